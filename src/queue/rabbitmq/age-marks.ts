import { sleep, unrefTimeout, withTimeout } from '../../timers.js';
import { knownNumber } from '../stored-values.js';
import type { ConnectionKeeper, RabbitmqChannel, RabbitmqMessage } from './rabbitmq-connection.js';

/** Small messages with the times of puts, since RabbitMQ does not tell how old the messages of a quorum queue are. */
export interface AgeMarks {
  /** Creates the queue of the marks. */
  declare(): Promise<void>;
  /** Marks a put at this time, in milliseconds since the epoch. Never throws. */
  add(now: number): void;
  /** Adds the mark that waits. */
  flush(): Promise<void>;
  /** Records that a worker has taken a job that was put at this time; another value than a time is left out. */
  taken(putAt: unknown): void;
  /** Removes the marks of the jobs that were taken, also of the latest where `isLast`. A worker calls it every second. */
  removeTaken(isLast?: boolean): Promise<void>;
  /** Resolves to the age of the oldest of so many jobs that wait; undefined where it has no mark. */
  oldestMs(waiting: number): Promise<number | undefined>;
}

/** Of the puts of a process within this time after a mark, only the last has a mark, which is added at its end. */
const INTERVAL_MS = 1_000;
/** When this many wait, new ones are refused: the oldest tells the age. */
const MAX_MARKS = 100_000;
/** RabbitMQ may return messages in another order, so more marks are read than the first one. A worker hides no more than 2. */
const READ = { byStats: 10, byWorker: 2 };
/** So many marks are read before they are removed. */
const MOST_HIDDEN = 500;
/** A worker removes marks so often after it has taken a job, since stats hide marks while they look for the oldest. */
const REPEATS = 5;
/** How often the oldest mark is searched again, since a worker hides it while it removes others. */
const [SEARCHES, SEARCH_PAUSE_MS] = [3, 20];
/** A put may take some seconds after its mark. */
const LONGEST_PUT_MS = 10_000;
/** How far the clock of another machine may be ahead. */
const MAX_AHEAD_MS = 60_000;
/** How long a call waits for the queue of the marks: after a crash of RabbitMQ it may hang while the others work. */
const LIMIT_MS = 1_000;
/** So many calls may wait for each other. */
const MOST_WAITING = 5;

/** Returns the marks of a queue. Where their queue is missing, only the age is not known. */
export function ageMarks(connection: ConnectionKeeper, main: string): AgeMarks {
  const marks = `${main}.marks`;
  const publish = connection.publisher();
  let isAdding = false;
  /** The time of the last put that has no mark. */
  let unmarked: number | undefined;
  /** The put of the job that was taken last; and the same of a second ago, whose mark has been added meanwhile. */
  let [latest, previous]: number[] = [];
  /** The time up to which marks were removed, and how often that is repeated. */
  let removed: number | undefined;
  let repeats = 0;

  /** The call that ends last, and how many have not ended. */
  let [last, waiting] = [Promise.resolve(), 0];

  /** Calls with a channel, one call after the other, so that calls that hang do not use up the channels of the connection. */
  async function inTurn<T>(call: (channel: RabbitmqChannel) => Promise<T>): Promise<T> {
    if (waiting === MOST_WAITING) throw new Error(`The queue '${marks}' does not answer`);
    waiting += 1;
    const turn = last.then(() => connection.withChannel(call));
    const ended = () => {
      waiting -= 1;
    };
    last = turn.then(ended, ended);
    return withTimeout(LIMIT_MS, () => turn);
  }

  /** Removes marks, and resolves to the first `most` of those that stay. */
  function remove(isOver: (at: number) => boolean, most: number): Promise<number[]> {
    return inTurn(async (channel) => {
      const left: number[] = [];
      let over: RabbitmqMessage[] = [];
      // Many at a time: RabbitMQ answers a read late that follows an acknowledgement.
      const ackAll = () => {
        for (const message of over) channel.ack(message as never);
        over = [];
      };
      while (left.length < most) {
        const message = await channel.get(marks, { noAck: false });
        if (!message) break;
        const at = timeOf(message.content.toString());
        if (at === undefined || isOver(at)) over.push(message);
        else left.push(at);
        if (over.length === MOST_HIDDEN) ackAll();
      }
      ackAll();
      return left;
    });
  }

  const addMark = (at: number) => publish(marks, String(at), {}).catch(() => {});

  /** Adds the mark of the last put, each second, until there is no new one. */
  async function addMarks(): Promise<void> {
    isAdding = true;
    for (let at = unmarked; at !== undefined; at = unmarked) {
      unmarked = undefined;
      await addMark(at);
      await new Promise<void>((over) => unrefTimeout(over, INTERVAL_MS));
    }
    isAdding = false;
  }

  return {
    declare: () =>
      inTurn(async (channel) => {
        // No quorum queue: with a length, it may not answer any more after a crash of RabbitMQ.
        const limits = { 'x-max-length': MAX_MARKS, 'x-overflow': 'reject-publish' };
        await channel.assertQueue(marks, { durable: true, arguments: { 'x-queue-type': 'classic', ...limits } });
      }),

    add(now) {
      unmarked = now;
      if (!isAdding) void addMarks();
    },

    async flush() {
      const at = unmarked;
      unmarked = undefined;
      if (at !== undefined) await withTimeout(LIMIT_MS, () => addMark(at)).catch(() => {});
    },

    taken(putAt) {
      latest = timeOf(putAt) ?? latest;
    },

    async removeTaken(isLast = false) {
      const until = isLast ? latest : previous;
      previous = latest;
      if (until !== removed) repeats = REPEATS;
      if (until === undefined || repeats === 0) return;
      await remove((at) => at <= until, READ.byWorker);
      removed = until;
      repeats -= 1;
    },

    async oldestMs(jobs) {
      const now = Date.now();
      const isOver = (at: number) => jobs === 0 && at < now - LONGEST_PUT_MS;
      try {
        let left = await remove(isOver, READ.byStats);
        for (let i = 0; jobs > 0 && left.length === 0 && i < SEARCHES; i += 1) {
          await sleep(SEARCH_PAUSE_MS);
          left = await remove(isOver, READ.byStats);
        }
        if (jobs === 0) return 0;
        return left.length === 0 ? undefined : Math.max(0, now - Math.min(...left));
      } catch {
        return jobs === 0 ? 0 : undefined; // the queue of the marks is missing, or hangs
      }
    },
  };
}

/** Returns a time that another process has stored, unless it lies in the future. */
function timeOf(value: unknown): number | undefined {
  const at = knownNumber(value);
  return at === undefined || at > Date.now() + MAX_AHEAD_MS ? undefined : at;
}
