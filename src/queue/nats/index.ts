export type {
  DeadLetter,
  DeadLetters,
  FollowedJob,
  FollowedState,
  OperatedQueue,
  QueueStats,
} from '../dead-letters.js';
export type {
  NatsConsumer,
  NatsConsumerInfo,
  NatsJetStream,
  NatsManager,
  NatsMessage,
  NatsPull,
  NatsStoredMessage,
  NatsStreamConfig,
  NatsStreamInfo,
} from './jetstream.js';
export { type NatsQueue, type NatsQueueOptions, natsQueue } from './nats-queue.js';
export type { NatsWorker, NatsWorkerOptions } from './nats-worker.js';
