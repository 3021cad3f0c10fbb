export type {
  DeadLetter,
  DeadLetters,
  FollowedJob,
  FollowedState,
  OperatedQueue,
  QueueStats,
} from '../dead-letters.js';
export {
  type PgBossJob,
  type PgBossProcessorOptions,
  type PgBossWorkerClient,
  pgBossProcessor,
} from './pg-boss-processor.js';
export {
  type PgBossClient,
  type PgBossDatabase,
  type PgBossQueueOptions,
  pgBossQueue,
} from './pg-boss-queue.js';
