export { type BullmqJob, bullmqProcessor } from './bullmq/bullmq-processor.js';
export {
  type BullmqBackoff,
  type BullmqJobOptions,
  type BullmqQueueClient,
  type BullmqQueueOptions,
  type BullmqStoredJob,
  bullmqQueue,
} from './bullmq/bullmq-queue.js';
export type { DeadLetter, DeadLetters, OperatedQueue, QueueStats } from './dead-letters.js';
