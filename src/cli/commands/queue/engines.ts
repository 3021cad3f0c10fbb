import { bullmqEngine } from './bullmq-engine.js';
import { graphileWorkerEngine } from './graphile-worker-engine.js';
import { natsEngine } from './nats-engine.js';
import { pgBossEngine } from './pg-boss-engine.js';
import type { QueueEngine } from './queue-engine.js';
import { rabbitmqEngine } from './rabbitmq-engine.js';
import { sqliteEngine } from './sqlite-engine.js';

/** Every engine, in the order of the help. */
export const ENGINES: readonly QueueEngine[] = [
  sqliteEngine,
  bullmqEngine,
  pgBossEngine,
  graphileWorkerEngine,
  rabbitmqEngine,
  natsEngine,
];
