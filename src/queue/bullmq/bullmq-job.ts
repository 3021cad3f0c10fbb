import type { DeadLetter } from '../dead-letters.js';
import type { QueueJob } from '../packed-delivery.js';
import type { Payloads } from '../payloads.js';
import { countOf, deadLetterOf } from '../stored-values.js';

/** The part of a stored `Job` that is used. */
export interface BullmqStoredJob {
  id?: string | undefined;
  data: unknown;
  timestamp: number;
  attemptsMade: number;
  stalledCounter: number;
  failedReason: string;
  stacktrace?: unknown;
  finishedOn?: number | undefined;
  isFailed(): Promise<boolean>;
  retry(state: 'failed', options: { resetAttemptsMade: boolean; resetAttemptsStarted: boolean }): Promise<void>;
  updateData(data: never): Promise<void>;
}

/** The data of a job: the delivery, and two fields that are no part of its format. */
export type BullmqData = QueueJob & {
  /** The id of one put, so that a put recognises its own job. */
  put?: string;
  /** How often the job had stalled when it was retried: BullMQ does not reset the number. */
  stalledBefore?: number;
};

/** Returns how many runs of a job have ended, also with the death of their worker, since it was put or retried. */
export function endedRuns(job: { data: unknown; attemptsMade: number; stalledCounter: number }): number {
  const { stalledBefore } = (job.data ?? {}) as Partial<BullmqData>;
  const stalled = countOf(job.stalledCounter);
  // Another program may have stored a larger number than BullMQ's own.
  return countOf(job.attemptsMade) + stalled - Math.min(stalled, countOf(stalledBefore));
}

export async function toDeadLetter(payloads: Payloads, stored: BullmqStoredJob): Promise<DeadLetter> {
  const { put: _, stalledBefore: __, ...job } = Object(stored.data) as Partial<BullmqData>;
  const attempts = Math.max(1, endedRuns(stored));
  const { id = '', finishedOn, failedReason } = stored;
  return deadLetterOf(payloads, id, {
    job,
    diedAt: finishedOn,
    attempts,
    reason: failedReason,
    stack: lastStackOf(stored),
  });
}

/**
 * Returns an error that BullMQ stores with the stack of a handler's failure. The text comes before it, because BullMQ keeps the
 * stacks of earlier failures of a job.
 */
export function errorWithStack(text: string, stack: string | undefined): Error {
  return Object.assign(new Error(text), { stack: stack === undefined ? text : stackAfter(text) + stack });
}

/** Returns the last stack of a job where it is of the failure that ended it. */
function lastStackOf({ failedReason, stacktrace }: BullmqStoredJob): string | undefined {
  const last = Array.isArray(stacktrace) ? String(stacktrace.at(-1)) : '';
  const before = stackAfter(failedReason);
  return last.startsWith(before) ? last.slice(before.length) : undefined;
}

const stackAfter = (text: string) => `${text}\n\n`;
