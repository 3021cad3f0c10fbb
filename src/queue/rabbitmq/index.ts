export type {
  DeadLetter,
  DeadLetters,
  FollowedJob,
  FollowedState,
  OperatedQueue,
  QueueStats,
} from '../dead-letters.js';
export type {
  RabbitmqChannel,
  RabbitmqConnection,
  RabbitmqHeaders,
  RabbitmqMessage,
} from './rabbitmq-connection.js';
export { type RabbitmqQueue, type RabbitmqQueueOptions, rabbitmqQueue } from './rabbitmq-queue.js';
export type { RabbitmqWorker, RabbitmqWorkerOptions } from './rabbitmq-worker.js';
