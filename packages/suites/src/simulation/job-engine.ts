import type { QueueJob } from 'service-webhooks/queue';
import type { Random } from './random.js';
import type { VirtualTime } from './virtual-time.js';

/** A job that a worker has taken from the engine. */
export interface TakenJob {
  /** The key under which it was put. */
  readonly key: string;
  /** The job, as the queue has stored it. */
  readonly value: unknown;
  /** The number of times the job has started, from 1. */
  readonly attempt: number;
  /** How many times it may start. */
  readonly attempts: number;
  /** Grows with every owner of the job. */
  readonly fence: number;
}

/** How a worker wants a job to end. */
export type JobEnd = 'done' | 'retry' | 'dead';

/** The client of a worker. Each method is a call over the network, which may fail. */
export interface JobsClient {
  /** How long a job belongs to its worker without a renewal, in milliseconds. */
  readonly leaseMs: number;
  /** Resolves to the next job, once there is one. */
  take(): Promise<TakenJob>;
  /** Renews the lease of a job. Resolves to false where it is no longer this worker's. */
  renew(job: TakenJob): Promise<boolean>;
  /**
   * Ends a job, or its attempt. Resolves to false, and changes nothing, where the job is no longer this worker's.
   *
   * @param options `unchecked`: the engine does not ask who owns the job, as engines whose jobs are settled by their id.
   */
  settle(job: TakenJob, as: JobEnd, options?: { unchecked?: boolean | undefined }): Promise<boolean>;
}

/** The engine itself, whose methods answer at once. */
export interface JobEngine {
  put(job: QueueJob): 'queued' | 'known';
  find(key: string): unknown;
  /** Resolves to the next job. `leaves` is called with the function that ends the wait of a worker that has died. */
  take(leaves: (leave: () => void) => void): Promise<TakenJob>;
  renew(job: TakenJob): boolean;
  settle(job: TakenJob, as: JobEnd, unchecked: boolean, worker: string): boolean;
  deadLetterOf(key: string): QueueJob | undefined;
  /** Whether every job is done or a dead letter. */
  readonly isIdle: boolean;
}

interface Job {
  key: string;
  value: QueueJob;
  state: 'waiting' | 'running' | 'done' | 'dead';
  attempt: number;
  fence: number;
  leaseUntil: number;
}

export const JOB_LEASE_MS = 30_000;
const ATTEMPTS = 5;
const BACKOFF_MS = 1_000;

export interface JobEngineParts {
  time: VirtualTime;
  random: Random;
  /** Called where a job is settled by a worker that does not own it. */
  settledByAnother(worker: string): void;
}

export function createJobEngine({ time, random, settledByAnother }: JobEngineParts): JobEngine {
  const jobs = new Map<string, Job>();
  const waiting = new Set<(job: TakenJob) => void>();

  function serve(): void {
    for (const job of jobs.values()) {
      const [...workers] = waiting;
      const [first, ...others] = workers;
      if (first === undefined) return;
      if (job.state !== 'waiting' || job.leaseUntil > time.elapsed()) continue;
      const worker = random.pick([first, ...others]);
      waiting.delete(worker);
      Object.assign(job, { state: 'running', attempt: job.attempt + 1, fence: job.fence + 1 });
      lease(job);
      const { key, attempt, fence } = job;
      worker({ key, value: structuredClone(job.value), attempt, attempts: ATTEMPTS, fence });
    }
  }

  function lease(job: Job): void {
    job.leaseUntil = time.elapsed() + JOB_LEASE_MS;
    time.after(JOB_LEASE_MS, () => {
      if (job.state !== 'running' || job.leaseUntil > time.elapsed()) return;
      job.state = 'waiting';
      serve();
    });
  }

  function owned({ key, fence }: TakenJob): Job | undefined {
    const job = jobs.get(key);
    return job?.state === 'running' && job.fence === fence ? job : undefined;
  }

  return {
    put(value) {
      const { key } = value;
      if (jobs.has(key)) return 'known';
      jobs.set(key, { key, value: structuredClone(value), state: 'waiting', attempt: 0, fence: 0, leaseUntil: 0 });
      serve();
      return 'queued';
    },
    find(key) {
      const job = jobs.get(key);
      return job?.state === 'done' ? undefined : job?.value;
    },
    take: (leaves) =>
      new Promise((resolve) => {
        waiting.add(resolve);
        leaves(() => waiting.delete(resolve));
        serve();
      }),
    renew(taken) {
      const job = owned(taken);
      if (job) lease(job);
      return job !== undefined;
    },
    settle(taken, as, unchecked, worker) {
      const own = owned(taken);
      if (!own && unchecked) settledByAnother(worker);
      const job = own ?? (unchecked ? jobs.get(taken.key) : undefined);
      if (!job) return false;
      job.state = as === 'retry' ? 'waiting' : as;
      if (as !== 'retry') return true;
      const pauseMs = BACKOFF_MS * 2 ** job.attempt;
      job.leaseUntil = time.elapsed() + pauseMs;
      time.after(pauseMs, serve);
      return true;
    },
    deadLetterOf(key) {
      const job = jobs.get(key);
      return job?.state === 'dead' ? job.value : undefined;
    },
    get isIdle() {
      return [...jobs.values()].every(({ state }) => state === 'done' || state === 'dead');
    },
  };
}
