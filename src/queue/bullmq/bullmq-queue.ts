import { checkEndpointName, checkRetention, RETAIN_MS } from '../../endpoint.js';
import { checkKnownOptions, checkObject, integers } from '../../option-checks.js';
import type { DeadLetter, FollowedState, OperatedQueue } from '../dead-letters.js';
import { type DeadRetentionOptions, deadRetention } from '../dead-retention.js';
import { checkClient, followedBy, limitedPut } from '../engine-queue.js';
import type { QueueJob } from '../packed-delivery.js';
import { createPayloads, PAYLOAD_OPTIONS, type PayloadOptions, type Payloads, withoutBodies } from '../payloads.js';
import { asJob, inTurn } from '../stored-values.js';
import { type BullmqData, type BullmqStoredJob, toDeadLetter } from './bullmq-job.js';
import { CATCH_UP, DISCARD, HAS_TEXT, PUT_AGAIN, runScript } from './redis-script.js';

/** The part of a `Queue` of BullMQ 6 that is used. */
export interface BullmqQueueClient {
  readonly name: string;
  waitUntilReady(): Promise<unknown>;
  add(name: never, data: never, options: BullmqJobOptions): Promise<unknown>;
  getJob(id: string): Promise<BullmqStoredJob | undefined>;
  getJobs(types: BullmqState[], start?: number, end?: number, ascending?: boolean): Promise<BullmqStoredJob[]>;
  getJobState(id: string): Promise<string>;
  getJobCounts(...types: BullmqState[]): Promise<{ [type: string]: number }>;
  toKey(type: string): string;
  getBackend(): unknown;
}

type BullmqState = 'wait' | 'active' | 'delayed' | 'prioritized' | 'failed';

/** The options that are set for each job. */
export interface BullmqJobOptions {
  jobId: string;
  attempts: number;
  backoff: BullmqBackoff;
  removeOnComplete: { age: number };
  removeOnFail: false;
  stackTraceLimit: 1;
}

/** BullMQ's own `backoff` option of a job. */
export type BullmqBackoff = number | { type: string; delay?: number; jitter?: number };

/** Options of {@link bullmqQueue}. */
export interface BullmqQueueOptions extends PayloadOptions, DeadRetentionOptions {
  /** A `Queue` of BullMQ. It is not closed. */
  queue: BullmqQueueClient;
  /** The name of the endpoint, part of every key. Default: the name of the queue. */
  name?: string | undefined;
  /** How many times a handler is started before its job fails for good. Default: 10. */
  attempts?: number | undefined;
  /** BullMQ's backoff. Default: exponential from 1 000 ms, with a jitter of a half. */
  backoff?: BullmqBackoff | undefined;
  /**
   * How long a finished job, and with it its key, is kept, in milliseconds, at least 6 hours. Default: 259 200 000 (72
   * hours).
   */
  retainMs?: number | undefined;
}

const OPTIONS = ['queue', 'name', 'attempts', 'backoff', 'retainMs', 'retainDead', ...PAYLOAD_OPTIONS];
/** How often a put looks for retries that wait for the time of a clock that went back. */
const CATCH_UP_INTERVAL_MS = 10_000;
const CATCH_UP_SIZE = 1_000;
/** How far the clocks of workers and receivers may be apart: as far as the service's and a receiver's. */
const CLOCK_SKEW_MS = 300_000;
/** In BullMQ, a job that is delayed until a time has this score per millisecond. */
const SCORE_PER_MS = 0x1000;
const PENDING = ['wait', 'active', 'delayed', 'prioritized'] as const;

/**
 * Returns a queue that puts deliveries into BullMQ 6 on Redis; `bullmqProcessor` runs their handlers in its workers. A
 * delivery is as durable as Redis is: set `appendonly yes`, `appendfsync always` and `maxmemory-policy noeviction`.
 * Create the connection of the receiver with `enableOfflineQueue: false`, so that a delivery is refused at once while
 * Redis is down.
 *
 * Jobs that fail without a further retry stay in Redis as the dead letters until they are retried or discarded.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * const queue = new Queue('webhooks', { connection });
 * app.post('/webhooks', webhookHandler({ secret, queue: bullmqQueue({ queue }) }));
 */
export function bullmqQueue(options: BullmqQueueOptions): OperatedQueue {
  checkObject('options', options);
  checkKnownOptions('bullmqQueue', options, OPTIONS);
  const { queue, backoff = { type: 'exponential', delay: 1_000, jitter: 0.5 } } = options;
  checkClient('queue must be a Queue of BullMQ', queue, ['add', 'getJob', 'waitUntilReady', 'getBackend']);
  const { name = queue.name } = options;
  checkEndpointName(name, 'name must be');
  const { attempts, retainMs } = integers(options, { attempts: 10, retainMs: RETAIN_MS });
  checkRetention('retainMs', retainMs);
  const removeOnComplete = { age: Math.ceil(retainMs / 1_000) };
  const jobOptions = { attempts, backoff, removeOnComplete, removeOnFail: false, stackTraceLimit: 1 } as const;

  const payloads = createPayloads(options);

  let caughtUpAt = Number.NEGATIVE_INFINITY;
  let offset = 0;

  /** Looks at some of the delayed jobs each time, because there may be many of other programs. */
  async function catchUp(): Promise<void> {
    if (performance.now() - caughtUpAt < CATCH_UP_INTERVAL_MS) return;
    caughtUpAt = performance.now();
    const now = Date.now();
    const numbers = [now + CLOCK_SKEW_MS, now * SCORE_PER_MS, offset, offset + CATCH_UP_SIZE - 1].map(String);
    const seen = await runScript(queue, CATCH_UP, queue.toKey('delayed'), queue.toKey(''), ...numbers);
    offset = seen === CATCH_UP_SIZE ? offset + CATCH_UP_SIZE : 0;
  }

  async function put(job: QueueJob): Promise<'queued' | 'known'> {
    const id = jobId(job.key);
    const own = crypto.randomUUID();
    const data: BullmqData = { ...job, put: own };
    // BullMQ answers the same for a job that it already has and for a new one, so Redis is asked whose job it has, if
    // possible in the same round trip.
    const isOwn = () => runScript(queue, HAS_TEXT, queue.toKey(id), own);
    const [, early] = await Promise.all([
      queue.add('delivery' as never, data as never, { ...jobOptions, jobId: id }),
      isOwn(),
    ]);
    const answer = early ?? (await isOwn());
    catchUp().catch(() => {}); // it is no part of this put, and a later one tries again
    return answer === 1 ? 'queued' : 'known';
  }

  /** Resolves to undefined for a job that is not a dead letter. */
  async function dead(id: string): Promise<BullmqStoredJob | undefined> {
    const job = id === '' ? undefined : await queue.getJob(id);
    return (await job?.isFailed()) ? job : undefined;
  }

  async function find(id: string): Promise<unknown> {
    return (await queue.getJobState(id)) === 'completed' ? undefined : (await queue.getJob(id))?.data;
  }

  async function list({ limit, offset }: { limit: number; offset: number }, bodies: Payloads): Promise<DeadLetter[]> {
    const jobs = await queue.getJobs(['failed'], offset, offset + limit - 1, true);
    return inTurn(jobs, (job) => toDeadLetter(bodies, job));
  }

  async function deadOrNone(id: string): Promise<BullmqStoredJob | undefined> {
    try {
      return await dead(id);
    } catch (error) {
      if (isNoDeadLetter(error)) return undefined;
      throw error;
    }
  }

  async function retry(id: string): Promise<boolean> {
    try {
      const job = await dead(id);
      if (job === undefined) return false;
      if (job.stalledCounter > 0 && asJob(job.data)) {
        await job.updateData({ ...(job.data as BullmqData), stalledBefore: job.stalledCounter } as never);
      }
      await job.retry('failed', { resetAttemptsMade: true, resetAttemptsStarted: true });
      await runScript(queue, PUT_AGAIN, queue.toKey(id), String(Date.now())).catch(() => {}); // the age alone
      return true;
    } catch (error) {
      if (isNoDeadLetter(error)) return false;
      throw error;
    }
  }

  async function stateOf(id: string): Promise<FollowedState> {
    const state = await queue.getJobState(id);
    if (state === 'failed') return 'dead';
    // A job of another program may be deleted when it is done, and its state is then unknown.
    return state === 'completed' || state === 'unknown' ? 'done' : 'pending';
  }

  const operated: OperatedQueue = {
    name,

    async init() {
      await queue.waitUntilReady();
    },

    put(delivery) {
      retention.discardOld();
      return payloads.put(delivery, {
        putJob: (job) => limitedPut(() => put(job)),
        find: (key) => find(jobId(key)),
      });
    },

    deadLetters: ({ limit = 100, offset = 0 } = {}) => list({ limit, offset }, payloads),

    retry,

    async retryAndFollow(id) {
      return (await retry(id)) ? followedBy(() => stateOf(id)) : undefined;
    },

    async discard(id) {
      await payloads.drop((await deadOrNone(id))?.data);
      const keys = ['failed', id, `${id}:logs`].map((type) => queue.toKey(type));
      return (await runScript(queue, DISCARD, ...keys, id)) === 1;
    },

    purgeDead: () => retention.purge(),

    async stats() {
      const counts = await queue.getJobCounts(...PENDING, 'failed');
      const oldest = await Promise.all(PENDING.map((type) => queue.getJobs([type], 0, 0, true)));
      const queuedAt = Math.min(...oldest.flat().map(({ timestamp }) => timestamp));
      return {
        depth: PENDING.reduce((sum, type) => sum + (counts[type] ?? 0), 0),
        oldestMs: Number.isFinite(queuedAt) ? Math.max(0, Date.now() - queuedAt) : 0,
        dead: counts['failed'] ?? 0,
      };
    },
  };
  const retention = deadRetention(options, { ...operated, list: (page) => list(page, withoutBodies) });
  return operated;
}

/** Whether another client was faster, or the id is the name of a key of BullMQ's own. */
function isNoDeadLetter(error: unknown): boolean {
  return /not in the failed state|missing key|WRONGTYPE/i.test(String(error));
}

/** Returns the id of a job. BullMQ refuses an id with a colon or of digits only; an encoded key has neither. */
function jobId(key: string): string {
  return encodeURIComponent(key);
}
