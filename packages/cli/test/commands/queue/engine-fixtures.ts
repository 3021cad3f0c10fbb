import { jetstreamManager } from '@nats-io/jetstream';
import { type Runner, run, runMigrations } from 'graphile-worker';
import type { OperatedQueue, PayloadOptions, WorkerOptions } from 'service-webhooks/queue';
import { graphileWorkerProcessor, graphileWorkerQueue } from 'service-webhooks/queue/graphile-worker';
import { openQueue, type QueuePlace } from '../../../../../test/queue/open-queue.js';
import { openNats } from '../../../../../test/support/nats.js';
import { poolOf, type TestPostgres } from '../../../../../test/support/postgres.js';
import { openRabbitmq } from '../../../../../test/support/rabbitmq.js';
import { openIoredis } from '../../../../../test/support/redis.js';

/** A queue of an engine on its real server, and how the command line finds it. */
export interface EngineFixture {
  queue: OperatedQueue;
  work(options: WorkerOptions): unknown;
  close(): Promise<void>;
}

export interface Engine {
  name: string;
  /** The package that a project has installed for it. */
  packageName: string;
  /** The variable with the URL of its server, and the URL. */
  variable: string;
  url: string;
  /** Options in addition to the engine and the queue. */
  options: string[];
  /** What the error about a missing queue says. */
  missing: RegExp;
  open(queue: string, bodies?: PayloadOptions): Promise<EngineFixture>;
}

/** The engines whose servers this machine has. */
export function enginesOn(servers: {
  redis: string | undefined;
  postgres: TestPostgres | undefined;
  rabbitmq: string | undefined;
  nats: string | undefined;
}): Engine[] {
  const { redis, postgres, rabbitmq, nats } = servers;
  const schema = `cli_${process.pid}`;
  return [
    ...(redis === undefined ? [] : [bullmq(redis)]),
    ...(postgres === undefined
      ? []
      : [pgBoss(postgres, `${schema}_boss`), graphileWorker(postgres, `${schema}_graphile`)]),
    ...(rabbitmq === undefined ? [] : [rabbitmqEngine(rabbitmq)]),
    ...(nats === undefined ? [] : [natsEngine(nats)]),
  ];
}

function bullmq(url: string): Engine {
  return {
    ...{ name: 'bullmq', packageName: 'bullmq', variable: 'REDIS_URL', url, options: [] },
    missing: /Redis has no queue '.*'\. Did you mean/,
    open: (name, bodies) =>
      opened({ engine: 'bullmq', name, url }, bodies, async () => {
        const client = openIoredis(url);
        const keys = await client.keys(`bull:${name}:*`);
        if (keys.length > 0) await client.del(keys);
        client.disconnect();
      }),
  };
}

function pgBoss({ url, admin }: TestPostgres, schema: string): Engine {
  return {
    ...{ name: 'pg-boss', packageName: 'pg-boss', variable: 'DATABASE_URL', url, options: ['--schema', schema] },
    missing: /has no queue '.*'\. Did you mean/,
    open: (name, bodies) =>
      opened({ engine: 'pg-boss', name, url, schema }, bodies, async () => {
        await admin.query(`DROP SCHEMA ${schema} CASCADE`);
      }),
  };
}

function graphileWorker({ url, admin }: TestPostgres, schema: string): Engine {
  return {
    ...{ name: 'graphile-worker', packageName: 'graphile-worker', variable: 'DATABASE_URL', url },
    options: ['--schema', schema],
    missing: /has no queue '.*'\. Did you mean/,
    async open(task, bodies) {
      await runMigrations({ connectionString: url, schema });
      const pool = poolOf(url, { max: 3 });
      const table = `${schema}_keys`;
      const runners: Promise<Runner>[] = [];
      const logger = { error() {}, warn() {}, info() {}, debug() {}, scope: () => logger } as never;
      return {
        queue: graphileWorkerQueue({ pg: pool, task, schema, table, ...bodies }),
        work(options) {
          const taskList = { [task]: graphileWorkerProcessor({ schema, ...options }) as never };
          runners.push(
            run({ pgPool: pool, schema, taskList, pollInterval: 50, concurrency: 2, noHandleSignals: true, logger }),
          );
        },
        async close() {
          for (const runner of runners) await (await runner).stop().catch(() => {});
          await pool.end();
          await admin.query(`DROP SCHEMA ${schema} CASCADE; DROP TABLE IF EXISTS ${table}`);
        },
      };
    },
  };
}

function rabbitmqEngine(url: string): Engine {
  return {
    ...{ name: 'rabbitmq', packageName: 'amqplib', variable: 'RABBITMQ_URL', url, options: [] },
    missing: /RabbitMQ has no queue '.*\.dead'\. Check --queue/,
    open: (name, bodies) =>
      opened({ engine: 'rabbitmq', name, url }, bodies, async () => {
        const connection = await openRabbitmq(url);
        const channel = await connection.createChannel();
        for (const suffix of ['', '.dead', '.unreadable', '.marks', '.operator', '.retry.5', '.retry.50'])
          await channel.deleteQueue(name + suffix);
        await connection.close();
      }),
  };
}

function natsEngine(url: string): Engine {
  return {
    ...{ name: 'nats', packageName: '@nats-io/transport-node', variable: 'NATS_URL', url, options: [] },
    missing: /NATS has no queue '.*'\. Did you mean/,
    open: (name, bodies) =>
      opened({ engine: 'nats', name, url }, bodies, async () => {
        const connection = await openNats(url);
        const { streams } = await jetstreamManager(connection);
        await streams.delete(name);
        await connection.close();
      }),
  };
}

async function opened(
  place: QueuePlace,
  bodies: PayloadOptions | undefined,
  remove: () => Promise<void>,
): Promise<EngineFixture> {
  const { queue, work, close } = await openQueue(place, { workersDie: false, ...(bodies && { bodies }) });
  return {
    queue,
    work,
    async close() {
      await close();
      await remove();
    },
  };
}
