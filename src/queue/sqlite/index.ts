export type { SqliteClient, SqliteDatabase } from '../../stores/sqlite/database.js';
export type {
  DeadLetter,
  DeadLetters,
  FollowedJob,
  FollowedState,
  OperatedQueue,
  QueueStats,
} from '../dead-letters.js';
export {
  type SqliteJob,
  type SqliteJobFilter,
  type SqliteQueue,
  type SqliteQueueOptions,
  sqliteQueue,
} from './sqlite-queue.js';
export type { SqliteWorker, SqliteWorkerOptions } from './sqlite-worker.js';
