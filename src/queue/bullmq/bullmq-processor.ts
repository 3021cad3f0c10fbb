import { createLog } from '../../receiver/log.js';
import { UNREADABLE_DELAY_MS } from '../backoff.js';
import { createProcessor, type WorkerOptions } from '../processor.js';
import { countOf } from '../stored-values.js';
import { endedRuns, errorWithStack } from './bullmq-job.js';
import { finishedJobs } from './finished-jobs.js';

/** The fields that the processor reads from a running `Job`. */
export interface BullmqJob {
  data: unknown;
  attemptsMade: number;
  stalledCounter: number;
  opts: { attempts?: number | undefined };
  moveToDelayed(timestamp: number, token?: string): Promise<void>;
  extendLock(token: string, duration: number): Promise<number>;
}

/** BullMQ's default of `lockDuration`. */
const LOCK_MS = 30_000;

/**
 * Returns the processor of a BullMQ `Worker`. Failures are retried by the `attempts` and the `backoff` of {@link
 * bullmqQueue}; a {@link PermanentError} fails the job without a retry.
 *
 * Once BullMQ has recorded the end of a job, the delivery is removed from it and its key stays, so that it takes little
 * memory. BullMQ cannot run such a job again.
 *
 * Set `maxStalledCount` of the worker to at least the attempts, such as 1 000. With BullMQ's default of 1, a job whose
 * worker died twice fails without another run.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * new Worker('webhooks', bullmqProcessor({ on }), { connection, maxStalledCount: 1_000 });
 */
export function bullmqProcessor(
  options: WorkerOptions,
): (job: BullmqJob, token?: string, signal?: AbortSignal) => Promise<void> {
  const process = createProcessor(options);
  const log = createLog(options.logger);
  const shortenFinished = finishedJobs();
  let isChecked = false;

  function checkWorker(job: BullmqJob, attempts: number): void {
    if (isChecked) return;
    isChecked = true;
    const { maxStalledCount } = workerOptionsOf(job);
    if (typeof maxStalledCount !== 'number' || maxStalledCount >= attempts) return;
    const problem = `A job whose worker dies more than ${maxStalledCount} times fails for good without another run.`;
    log.warn('max_stalled_count', `${problem} Set maxStalledCount of the Worker to 1000: attempts limits the runs.`);
  }

  // BullMQ passes a signal to a processor with three parameters.
  return async (job, token, signal) => {
    const attempts = Math.max(1, countOf(job.opts.attempts));
    checkWorker(job, attempts);
    shortenFinished(job);
    const ended = await process(job.data, {
      ...{ attempt: endedRuns(job) + 1, attempts, signal },
      isOwn: () => isLocked(job, token),
    });
    if (ended.as === 'done') return;
    if (ended.as === 'unreadable') {
      await job.moveToDelayed(Date.now() + UNREADABLE_DELAY_MS, token);
      throw named('DelayedError', ended.reason);
    }
    // Never the error of a handler, because names and texts of errors have a meaning to BullMQ.
    if (ended.as === 'failed') {
      const error = errorWithStack(`The handler failed: ${ended.reason}`, ended.stack);
      throw Object.assign(error, { cause: ended.error });
    }
    // BullMQ fails the job after this, and only if the lock is still this worker's.
    if (await isLocked(job, token)) process.deadLetter(job.data, ended);
    throw named('UnrecoverableError', ended.reason.replace(/^bullmq:/, 'BullMQ: '), ended.stack);
  };
}

async function isLocked(job: BullmqJob, token = ''): Promise<boolean> {
  const { lockDuration } = workerOptionsOf(job);
  const extended = await job.extendLock(token, countOf(lockDuration) || LOCK_MS).catch(() => 0);
  return extended === 1;
}

/** Returns the options of the worker that runs a job; nothing where this version of BullMQ keeps them elsewhere. */
function workerOptionsOf(job: BullmqJob): { maxStalledCount?: unknown; lockDuration?: unknown } {
  return (job as { queue?: { opts?: object } }).queue?.opts ?? {};
}

/** Returns an error that BullMQ recognises by its name. */
function named(name: string, text: string, stack?: string): Error {
  return Object.assign(errorWithStack(text, stack), { name });
}
