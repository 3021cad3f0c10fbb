export type { DeliveryQueue } from '../receiver/delivery-queue.js';
export { fromQueued, type QueuedDelivery, toQueued } from '../receiver/queued-delivery.js';
export type {
  DeadLetter,
  DeadLetters,
  FollowedJob,
  FollowedState,
  OperatedQueue,
  QueueStats,
} from './dead-letters.js';
export {
  createProcessor,
  type Ended,
  type JobRun,
  type Processor,
  type WorkerOptions,
  type WorkerTelemetry,
} from './processor.js';
