import { checkEndpointName } from '../../endpoint.js';
import {
  check,
  checkFunction,
  checkKnownOptions,
  checkObject,
  checkPositiveInteger,
  integers,
} from '../../option-checks.js';
import { sleep } from '../../timers.js';
import type { DeadLetter, OperatedQueue } from '../dead-letters.js';
import { limitedPut } from '../engine-queue.js';
import { deadLetterOf, knownText, parsedJob } from '../stored-values.js';
import {
  keepConnection,
  type RabbitmqChannel,
  type RabbitmqConnection,
  type RabbitmqHeaders,
  type RabbitmqMessage,
} from './rabbitmq-connection.js';
import { type RabbitmqWorker, type RabbitmqWorkerOptions, startRabbitmqWorker } from './rabbitmq-worker.js';
import { topologyOf } from './topology.js';

/** Options of {@link rabbitmqQueue}. */
export interface RabbitmqQueueOptions {
  /**
   * Opens a connection of amqplib: `() => amqp.connect(url)`. It is called when a connection is needed, and again after
   * one was lost, because amqplib does not reconnect.
   */
  connect(): Promise<RabbitmqConnection>;
  /** The name of the queue in RabbitMQ, where the queues that belong to it are created too. */
  queue: string;
  /** The name of the endpoint, part of every key. Default: the name of the queue. */
  name?: string | undefined;
  /** The number of times a handler is started before its job is a dead letter. Default: 10. */
  attempts?: number | undefined;
  /**
   * How long a failed job waits after its first failure, its second, and so on, in milliseconds; the last delay applies
   * to all further failures. Each delay is a queue in RabbitMQ. Default: 1 000, 10 000, 60 000, 600 000.
   */
  retryDelaysMs?: readonly number[] | undefined;
}

/** A queue in RabbitMQ. */
export interface RabbitmqQueue extends OperatedQueue {
  /** Starts a worker in this process. */
  work(options: RabbitmqWorkerOptions): RabbitmqWorker;
  /** Closes the connection. */
  close(): Promise<void>;
}

/** How often a dead letter is searched: all are hidden while another operator reads them. */
const SEARCHES = 5;
/** RabbitMQ returns messages in another order, so the oldest ones are searched among this many. */
const SEARCH_SIZE = 1_000;
const PAUSE_MS = 50;

/**
 * Returns a queue that puts deliveries into a quorum queue of RabbitMQ 3.10 or later, through amqplib, with publisher
 * confirms.
 *
 * RabbitMQ recognises no duplicates: a redelivery is queued again, and a job whose worker dies before it acknowledges
 * the result is run by another worker. Use an inbox in the handlers, or, for the redeliveries alone, `dedupe` with a
 * shared store in the receiver.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * const queue = rabbitmqQueue({ connect: () => amqp.connect(url), queue: 'webhooks' });
 * app.post('/webhooks', webhookHandler({ secret, queue }));
 * const worker = queue.work({ on, concurrency: 10 });
 */
export function rabbitmqQueue(options: RabbitmqQueueOptions): RabbitmqQueue {
  checkObject('options', options);
  checkKnownOptions('rabbitmqQueue', options, ['connect', 'queue', 'name', 'attempts', 'retryDelaysMs'], {
    connection: 'connect',
    url: 'connect',
  });
  const { connect, queue, retryDelaysMs = [1_000, 10_000, 60_000, 600_000] } = options;
  check(connect !== undefined, 'connect must be a function that opens a connection of amqplib');
  checkFunction('connect', connect);
  check(typeof queue === 'string' && queue.length > 0 && queue.length <= 200, 'queue must be the name of a queue');
  const { name = queue } = options;
  checkEndpointName(name, 'name must be');
  const { attempts } = integers(options, { attempts: 10 });
  check(Array.isArray(retryDelaysMs) && retryDelaysMs.length > 0, 'retryDelaysMs must be a list with a delay');
  for (const ms of retryDelaysMs) checkPositiveInteger('retryDelaysMs', ms);
  const topology = topologyOf(queue, retryDelaysMs);
  const { main, dead, pending } = topology;
  const connection = keepConnection(connect);
  let last: Promise<unknown> = Promise.resolve();

  async function withChannel<T>(call: (channel: RabbitmqChannel) => Promise<T>): Promise<T> {
    const channel = await connection.channel();
    try {
      return await call(channel);
    } finally {
      await channel.close().catch(() => {}); // returns the messages that were not acknowledged
    }
  }

  /** Runs a call on a channel of its own, one call at a time: two readers would hide dead letters from each other. */
  function exclusively<T>(call: (channel: RabbitmqChannel) => Promise<T>): Promise<T> {
    const turn = last.then(() => withChannel(call));
    last = turn.catch(() => {});
    return turn;
  }

  async function take(channel: RabbitmqChannel, id: string): Promise<RabbitmqMessage | undefined> {
    for (;;) {
      const message = await channel.get(dead, { noAck: false });
      if (!message || idOf(message) === id) return message || undefined;
    }
  }

  /** Resolves to whether there was a dead letter with this id; then it is deleted, after `call`. */
  async function remove(id: string, call: (message: RabbitmqMessage) => Promise<void>): Promise<boolean> {
    for (let i = 0; i < SEARCHES; i += 1) {
      if (i > 0) await sleep(PAUSE_MS);
      const found = await exclusively(async (channel) => {
        const message = await take(channel, id);
        if (message === undefined) return false;
        await call(message);
        channel.ack(message as never);
        return true;
      });
      if (found) return true;
    }
    return false;
  }

  return {
    name,

    init: () => withChannel((channel) => topology.declare(channel)),

    put: (delivery) =>
      limitedPut(async () => {
        await connection.publish(main, JSON.stringify(delivery), { messageId: delivery.key });
        return 'queued' as const;
      }),

    work: (workerOptions) => startRabbitmqWorker(workerOptions, { connection, topology, attempts }),

    deadLetters: ({ limit = 100, offset = 0 } = {}) =>
      exclusively(async (channel) => {
        const letters: DeadLetter[] = [];
        while (letters.length < Math.max(offset + limit, SEARCH_SIZE)) {
          const message = await channel.get(dead, { noAck: false });
          if (!message) break;
          letters.push(toDeadLetter(message));
        }
        return letters.sort((a, b) => (a.diedAt ?? 0) - (b.diedAt ?? 0)).slice(offset, offset + limit);
      }),

    retry: (id) =>
      remove(id, ({ content, properties: { messageId } }) =>
        connection.publish(main, content.toString(), { messageId }),
      ),

    discard: (id) => remove(id, async () => {}),

    stats: () =>
      withChannel(async (channel) => {
        const counts = await Promise.all([...pending, dead].map((one) => channel.checkQueue(one)));
        const total = counts.reduce((sum, { messageCount }) => sum + messageCount, 0);
        const deadCount = counts.at(-1)?.messageCount ?? 0;
        return { depth: total - deadCount, oldestMs: undefined, dead: deadCount };
      }),

    close: () => connection.close(),
  };
}

/** Returns the id of a message; one that RabbitMQ itself has dead-lettered has none of ours. */
function idOf({ properties: { headers, messageId } }: RabbitmqMessage): string | undefined {
  return knownText(headers?.['x-dead-id']) ?? messageId;
}

function toDeadLetter(message: RabbitmqMessage): DeadLetter {
  const headers: RabbitmqHeaders = message.properties.headers ?? {};
  return deadLetterOf(idOf(message) ?? '', {
    job: parsedJob(message.content.toString()),
    diedAt: headers['x-died-at'],
    attempts: headers['x-failures'],
    reason: headers['x-reason'],
  });
}
