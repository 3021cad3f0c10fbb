export type {
  DeadLetter,
  DeadLetters,
  FollowedJob,
  FollowedState,
  OperatedQueue,
  QueueStats,
} from '../dead-letters.js';
export {
  type GraphileWorkerHelpers,
  type GraphileWorkerProcessorOptions,
  graphileWorkerProcessor,
} from './graphile-worker-processor.js';
export {
  type GraphileWorkerPool,
  type GraphileWorkerQueue,
  type GraphileWorkerQueueOptions,
  graphileWorkerQueue,
} from './graphile-worker-queue.js';
