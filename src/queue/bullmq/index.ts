export type {
  DeadLetter,
  DeadLetters,
  FollowedJob,
  FollowedState,
  OperatedQueue,
  QueueStats,
} from '../dead-letters.js';
export type { BullmqStoredJob } from './bullmq-job.js';
export { type BullmqJob, bullmqProcessor } from './bullmq-processor.js';
export {
  type BullmqBackoff,
  type BullmqJobOptions,
  type BullmqQueueClient,
  type BullmqQueueOptions,
  bullmqQueue,
} from './bullmq-queue.js';
