import type { QueuedDelivery } from '../../receiver/queued-delivery.js';
import type { DeadLetter } from '../dead-letters.js';
import { countOf, deadLetterOf } from '../stored-values.js';

/** The part of a stored `Job` that is used. */
export interface BullmqStoredJob {
  id?: string | undefined;
  data: unknown;
  timestamp: number;
  attemptsMade: number;
  stalledCounter: number;
  failedReason: string;
  finishedOn?: number | undefined;
  isFailed(): Promise<boolean>;
  retry(state: 'failed', options: { resetAttemptsMade: boolean; resetAttemptsStarted: boolean }): Promise<void>;
  updateData(data: never): Promise<void>;
}

/** The data of a job: the delivery, and two fields that are no part of its format. */
export interface BullmqData extends QueuedDelivery {
  /** The id of one put, so that a put recognises its own job. */
  put?: string;
  /** How often the job had stalled when it was retried: BullMQ does not reset the number. */
  stalledBefore?: number;
}

/** Returns how many runs of a job have ended, also with the death of their worker, since it was put or retried. */
export function endedRuns(job: { data: unknown; attemptsMade: number; stalledCounter: number }): number {
  const { stalledBefore } = (job.data ?? {}) as Partial<BullmqData>;
  const stalled = countOf(job.stalledCounter);
  // Another program may have stored a larger number than BullMQ's own.
  return countOf(job.attemptsMade) + stalled - Math.min(stalled, countOf(stalledBefore));
}

export function toDeadLetter(stored: BullmqStoredJob): DeadLetter {
  const { put: _, stalledBefore: __, ...job } = Object(stored.data) as Partial<BullmqData>;
  const attempts = Math.max(1, endedRuns(stored));
  return deadLetterOf(stored.id ?? '', { job, diedAt: stored.finishedOn, attempts, reason: stored.failedReason });
}
