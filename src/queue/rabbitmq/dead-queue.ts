import { sleep, stopwatch } from '../../timers.js';
import type { DeadLetter } from '../dead-letters.js';
import type { Payloads } from '../payloads.js';
import { countOf, deadLetterOf, inTurn, knownText, parsedJob } from '../stored-values.js';
import type { ConnectionKeeper, RabbitmqChannel, RabbitmqHeaders, RabbitmqMessage } from './rabbitmq-connection.js';

/**
 * The queue of the dead letters. RabbitMQ shows a message only by taking it from its queue, so that each call hides dead
 * letters from all others until it ends: the caller holds the lock of the operators.
 */
export interface DeadQueue {
  /** Resolves to the oldest dead letters, without the first `offset` of them. */
  list(page: { limit: number; offset: number }): Promise<DeadLetter[]>;
  /** Resolves to whether there was a dead letter with this id; then it is deleted, after `call`. */
  remove(id: string, call: (message: RabbitmqMessage) => Promise<void>): Promise<boolean>;
}

/** RabbitMQ returns messages in another order, so the oldest ones are searched among this many. */
const SEARCH_SIZE = 1_000;
const [RETURN_LIMIT_MS, RETURN_PAUSE_MS] = [5_000, 10];

export function deadQueueOf(connection: ConnectionKeeper, dead: string, payloads: Payloads): DeadQueue {
  const count = async (channel: RabbitmqChannel) => (await channel.checkQueue(dead)).messageCount;

  /** Calls with what reads the queue, and resolves once RabbitMQ counts the messages again that were not deleted. */
  async function reading<T>(call: (reader: Reader) => Promise<T>): Promise<T> {
    let [hidden, expected] = [0, 0];
    const read = connection.withChannel(async (channel) => {
      try {
        return await call({
          async next() {
            const message = await channel.get(dead, { noAck: false });
            if (message) hidden += 1;
            return message || undefined;
          },
          delete(message) {
            channel.ack(message as never);
            hidden -= 1;
          },
        });
      } finally {
        expected = hidden && hidden + (await count(channel).catch(() => 0));
      }
    });
    const isCounted = async (channel: RabbitmqChannel) => (await count(channel)) >= expected;
    const returned = () => connection.withChannel((channel) => untilReturned(channel, isCounted));
    return read.finally(() => expected && returned().catch(() => {})); // what was read or deleted stays so
  }

  return {
    async list({ limit, offset }) {
      const messages: RabbitmqMessage[] = [];
      await reading(async ({ next }) => {
        while (messages.length < Math.max(offset + limit, SEARCH_SIZE)) {
          const message = await next();
          if (message === undefined) break;
          messages.push(message);
        }
      });
      const page = messages.sort((a, b) => diedAtOf(a) - diedAtOf(b)).slice(offset, offset + limit);
      return inTurn(page, (message) => toDeadLetter(payloads, message));
    },

    remove: (id, call) =>
      reading(async (reader) => {
        let message = await reader.next();
        while (message && idOf(message) !== id) message = await reader.next();
        if (message === undefined) return false;
        await call(message);
        reader.delete(message);
        return true;
      }),
  };
}

interface Reader {
  /** Resolves to a message that it hides from others; undefined where there is none left. */
  next(): Promise<RabbitmqMessage | undefined>;
  delete(message: RabbitmqMessage): void;
}

/** A reader before the lock of the operators was there may delete what is waited for, so the wait has a limit. */
async function untilReturned(channel: RabbitmqChannel, isCounted: (channel: RabbitmqChannel) => Promise<boolean>) {
  const waitedMs = stopwatch();
  while (!(await isCounted(channel)) && waitedMs() < RETURN_LIMIT_MS) await sleep(RETURN_PAUSE_MS);
}

/** Returns the id of a message; one that RabbitMQ itself has dead-lettered has none of ours. */
function idOf({ properties: { headers, messageId } }: RabbitmqMessage): string | undefined {
  return knownText(headers?.['x-dead-id']) ?? messageId;
}

function diedAtOf({ properties: { headers } }: RabbitmqMessage): number {
  return countOf(headers?.['x-died-at']);
}

async function toDeadLetter(payloads: Payloads, message: RabbitmqMessage): Promise<DeadLetter> {
  const headers: RabbitmqHeaders = message.properties.headers ?? {};
  return deadLetterOf(payloads, idOf(message) ?? '', {
    job: parsedJob(message.content.toString()),
    diedAt: headers['x-died-at'],
    attempts: headers['x-failures'],
    reason: headers['x-reason'],
    stack: headers['x-stack'],
  });
}
