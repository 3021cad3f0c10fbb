import { checkKnownOptions, checkObject, integers } from '../option-checks.js';
import { createLog, type Log } from '../receiver/log.js';
import { MAX_TIMER_MS, sleep, withTimeout } from '../timers.js';
import { createProcessor, type Processor, WORKER_ALIASES, WORKER_OPTIONS, type WorkerOptions } from './processor.js';
import { reportError } from './reason.js';

/** The parts of a worker that are the same for every engine whose workers this package runs itself. */
export interface WorkerShell<Job> {
  readonly concurrency: number;
  readonly process: Processor;
  readonly log: Log;
  readonly running: RunningJobs<Job>;
  /** Whether `stop()` was called. */
  readonly stopping: boolean;
  report(operation: string, problem: string, error: unknown): void;
  /** Calls a function regularly until the worker has stopped. */
  every(ms: number, call: () => void): void;
  /** Repeats a call, with a report and a pause after each failure, until it succeeds or the worker stops. */
  untilDone(
    call: () => Promise<void>,
    failed: { operation: string; problem: string; pause(): Promise<void> },
  ): Promise<void>;
  /** Returns the worker, whose first `stop()` calls `end`. */
  worker(end: (timeoutMs: number) => Promise<void>): {
    stop(options?: { timeoutMs?: number | undefined }): Promise<void>;
  };
}

/** The jobs that a worker runs, until they have ended. */
export interface RunningJobs<Job> {
  readonly size: number;
  /** Runs a job, which must not reject. Its signal is aborted once the job is no longer this worker's. */
  run(job: Job, call: (signal: AbortSignal) => Promise<void>): Promise<void>;
  /** Whether a job has neither ended nor been aborted. */
  isOwn(job: Job): boolean;
  own(): Job[];
  /** Aborts jobs that the engine has removed from this worker. */
  abort(jobs: readonly Job[]): void;
  /**
   * Resolves when all jobs, and `also`, have ended, or after `timeoutMs`. Then it aborts the jobs that are left, and resolves
   * to those that were this worker's until then.
   */
  drain(timeoutMs: number, also?: Promise<unknown>): Promise<Job[]>;
}

/** How long a stopping worker waits for its handlers. */
const STOP_TIMEOUT_MS = 10_000;
/** How long a worker waits for a call whose answer changes nothing. */
const LIMIT_MS = 5_000;

/** @throws WebhookError `invalid_option` */
export function workerShell<Job>(options: WorkerOptions & { concurrency?: number | undefined }): WorkerShell<Job> {
  checkObject('options', options);
  checkKnownOptions('the worker', options, [...WORKER_OPTIONS, 'concurrency'], WORKER_ALIASES);
  const { concurrency } = integers(options, { concurrency: 1 });
  const { concurrency: _, ...handlers } = options;
  const log = createLog(options.logger);
  const intervals: ReturnType<typeof setInterval>[] = [];
  let stopping = false;
  let stopped: Promise<void> | undefined;

  const report: WorkerShell<Job>['report'] = (...problem) => reportError(log, ...problem);

  return {
    concurrency,
    process: createProcessor(handlers),
    log,
    running: runningJobs(),
    get stopping() {
      return stopping;
    },
    report,

    every(ms, call) {
      const interval = setInterval(call, Math.min(ms, MAX_TIMER_MS));
      interval.unref?.();
      intervals.push(interval);
    },

    async untilDone(call, { operation, problem, pause }) {
      while (!stopping) {
        try {
          return await call();
        } catch (error) {
          if (stopping) return;
          report(operation, problem, error);
          await pause();
        }
      }
    },

    worker: (end) => ({
      stop({ timeoutMs = STOP_TIMEOUT_MS } = {}) {
        stopping = true;
        stopped ??= end(timeoutMs).finally(() => {
          for (const interval of intervals) clearInterval(interval);
        });
        return stopped;
      },
    }),
  };
}

function runningJobs<Job>(): RunningJobs<Job> {
  const running = new Map<Job, { controller: AbortController; ended: Promise<void> }>();

  const isOwn = (job: Job) => running.get(job)?.controller.signal.aborted === false;
  const own = () => [...running.keys()].filter(isOwn);

  function abort(jobs: readonly Job[]): void {
    for (const job of jobs) running.get(job)?.controller.abort();
  }

  return {
    get size() {
      return running.size;
    },

    run(job, call) {
      const one = { controller: new AbortController(), ended: Promise.resolve() };
      running.set(job, one);
      one.ended = call(one.controller.signal).finally(() => running.delete(job));
      return one.ended;
    },

    isOwn,
    own,
    abort,

    async drain(timeoutMs, also) {
      const ended = Promise.all([also, ...[...running.values()].map((one) => one.ended)]);
      const inTime = new AbortController();
      await Promise.race([ended, sleep(timeoutMs, inTime.signal).catch(() => {})]);
      inTime.abort();
      const left = own();
      abort(left);
      return left;
    },
  };
}

/** Waits up to 5 s for a call and ignores its error: an engine whose connection is lost must not hold up a stop. */
export async function limited(call: () => Promise<unknown>): Promise<void> {
  await withTimeout(LIMIT_MS, call).catch(() => {});
}
