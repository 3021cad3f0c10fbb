import { countOf } from '../engine-values.js';
import type { BullmqData } from './bullmq-data.js';

/** Returns how many runs of a job have ended, also with the death of their worker, since it was put or retried. */
export function endedRuns(job: { data: unknown; attemptsMade: number; stalledCounter: number }): number {
  const { stalledBefore } = (job.data ?? {}) as Partial<BullmqData>;
  const stalled = countOf(job.stalledCounter);
  // Another program may have stored a larger number than BullMQ's own.
  return countOf(job.attemptsMade) + stalled - Math.min(stalled, countOf(stalledBefore));
}
