export type { DeliveryQueue } from '../receiver/delivery-queue.js';
export { fromQueued, type QueuedDelivery, toQueued } from '../receiver/queued-delivery.js';
export type { EncryptionKey } from './body-cipher.js';
export type {
  DeadLetter,
  DeadLetters,
  FollowedJob,
  FollowedState,
  OperatedQueue,
  QueueStats,
  UnopenedDelivery,
} from './dead-letters.js';
export { jobReader, type ReadJob } from './job-reader.js';
export type { EnginePut } from './outside-bodies.js';
export type { OverflowReference, PackedDelivery, QueueJob } from './packed-delivery.js';
export { createPayloads, type PayloadOptions, type Payloads } from './payloads.js';
export {
  createProcessor,
  type Ended,
  type JobRun,
  type Processor,
  type WorkerOptions,
  type WorkerTelemetry,
} from './processor.js';
