export type { DeadLetter, DeadLetters, OperatedQueue, QueueStats } from './dead-letters.js';
export type {
  RabbitmqChannel,
  RabbitmqConnection,
  RabbitmqHeaders,
  RabbitmqMessage,
} from './rabbitmq/rabbitmq-connection.js';
export { type RabbitmqQueue, type RabbitmqQueueOptions, rabbitmqQueue } from './rabbitmq/rabbitmq-queue.js';
export type { RabbitmqWorker, RabbitmqWorkerOptions } from './rabbitmq/rabbitmq-worker.js';
