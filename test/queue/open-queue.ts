import { jetstream } from '@nats-io/jetstream';
import amqp from 'amqplib';
import { Queue, Worker } from 'bullmq';
import { Logger, run, runMigrations } from 'graphile-worker';
import { Redis } from 'ioredis';
import PgBoss from 'pg-boss';
import { bullmqProcessor, bullmqQueue } from 'service-webhooks/queue/bullmq';
import { graphileWorkerProcessor, graphileWorkerQueue } from 'service-webhooks/queue/graphile-worker';
import { natsQueue } from 'service-webhooks/queue/nats';
import { sqliteOverflow } from 'service-webhooks/queue/overflow';
import { pgBossProcessor, pgBossQueue } from 'service-webhooks/queue/pg-boss';
import { rabbitmqQueue } from 'service-webhooks/queue/rabbitmq';
import { sqliteQueue } from 'service-webhooks/queue/sqlite';
import type { OperatedQueue } from '../../src/queue/dead-letters.js';
import type { PayloadOptions } from '../../src/queue/payloads.js';
import type { WorkerOptions } from '../../src/queue/processor.js';
import { clientOf, type Driver, openSqlite } from '../integration/sqlite.js';
import { openNats } from '../support/nats.js';
import { poolOf } from '../support/postgres.js';

/** Where a queue is, for every process that uses it. */
export type QueuePlace = { name: string; overflow?: { driver: Driver; file: string } | undefined } & (
  | { engine: 'sqlite'; driver: Driver; file: string }
  | { engine: 'bullmq'; url: string }
  | { engine: 'rabbitmq'; url: string }
  | { engine: 'nats'; url: string }
  | { engine: 'graphile-worker'; url: string; schema: string }
  | { engine: 'pg-boss'; url: string; schema: string }
);

export interface OpenedQueue {
  queue: OperatedQueue;
  /** Starts a worker that goes on until its process ends. */
  work(options: WorkerOptions): void;
  close(): Promise<unknown>;
}

/** How many runs a job has: more than a run of these tests has kills, so that only its handler ends it. */
const ATTEMPTS = 60;
const CONCURRENCY = 4;
const quiet = new Logger(() => () => {});

/**
 * Opens a queue as an app does. Where workers are to die, leases are so short that a test sees their jobs run again; a
 * process that is only slow loses its jobs then, too.
 */
export async function openQueue(
  place: QueuePlace,
  { workersDie, bodies = bodiesOf(place) }: { workersDie: boolean; bodies?: PayloadOptions },
): Promise<OpenedQueue> {
  const { engine, name } = place;
  const attempts = ATTEMPTS;
  if (engine === 'sqlite') {
    const handle = openSqlite(place.driver, place.file);
    const leases = workersDie && { leaseMs: 500 };
    const options = { name, attempts, backoffMs: 5, maxBackoffMs: 50, pollMs: 20, ...leases, ...bodies };
    const queue = sqliteQueue(clientOf(place.driver, handle), options);
    await queue.init();
    handle.exec('PRAGMA synchronous = OFF'); // init() lets it wait for the disk
    const work = (on: WorkerOptions) => void queue.work({ ...on, concurrency: CONCURRENCY });
    return { queue, work, close: async () => handle.close() };
  }
  if (engine === 'bullmq') {
    const connection = new Redis(place.url, { maxRetriesPerRequest: null, retryStrategy: () => 50 });
    connection.on('error', () => {});
    const bull = new Queue(name, { connection }).on('error', () => {});
    const leases = workersDie && { lockDuration: 1_000, stalledInterval: 300 };
    const settings = { connection, concurrency: CONCURRENCY, maxStalledCount: 1_000, drainDelay: 1, ...leases };
    const work = (on: WorkerOptions) => {
      new Worker(name, bullmqProcessor({ ...bodies, ...on }), settings).on('error', () => {});
    };
    return {
      queue: bullmqQueue({ queue: bull, attempts, backoff: 5, ...bodies }),
      work,
      close: async () => connection.disconnect(),
    };
  }
  if (engine === 'pg-boss') {
    const { url, schema } = place;
    const boss = new PgBoss({ connectionString: url, schema, max: 4 }).on('error', () => {});
    await boss.start();
    // It looks for the jobs of dead workers every second, as its maintenance does every two minutes.
    if (workersDie) setInterval(() => boss.expire().catch(() => {}), 1_000).unref();
    const queue = pgBossQueue({
      boss,
      queue: name,
      attempts,
      schema,
      ...(workersDie && { expireInSeconds: 2 }),
      ...bodies,
    });
    const work = async (on: WorkerOptions) => {
      const settings = { batchSize: CONCURRENCY, pollingIntervalSeconds: 0.5 };
      for (let i = 0; i < CONCURRENCY; i += 1)
        await boss.work(name, settings, pgBossProcessor({ boss, schema, ...bodies, ...on }));
    };
    return { queue, work: (on) => void work(on), close: () => boss.stop({ graceful: false, wait: true }) };
  }
  if (engine === 'nats') {
    const connection = await openNats(place.url);
    const settings = { attempts, backoffMs: 5, maxBackoffMs: 50, ...(workersDie && { ackWaitMs: 1_000 }) };
    const queue = natsQueue({ jetstream: jetstream(connection), stream: name, ...settings, ...bodies });
    const work = (on: WorkerOptions) => void queue.work({ ...on, concurrency: CONCURRENCY });
    return { queue, work, close: () => connection.close() };
  }
  if (engine === 'graphile-worker') {
    const { url, schema } = place;
    const pool = poolOf(url, { max: 4 });
    await runMigrations({ connectionString: url, schema });
    // What graphile-worker does with the jobs of dead workers after four hours.
    const unlock = `UPDATE ${schema}._private_jobs SET locked_at = NULL, locked_by = NULL WHERE locked_at < now() - interval '2 s'`;
    const unlocking = workersDie ? setInterval(() => pool.query(unlock).catch(() => {}), 500).unref() : undefined;
    const queue = graphileWorkerQueue({ pg: pool, task: name, attempts, schema, table: `${schema}_keys`, ...bodies });
    const work = async (on: WorkerOptions) => {
      const taskList = { [name]: graphileWorkerProcessor({ schema, ...bodies, ...on }) };
      const settings = { concurrency: CONCURRENCY, pollInterval: 20, noHandleSignals: true, logger: quiet };
      await run({ connectionString: url, schema, taskList: taskList as never, ...settings });
    };
    return {
      queue,
      work: (on) => void work(on),
      close: async () => {
        clearInterval(unlocking);
        await pool.end();
      },
    };
  }
  const connect = async () => (await amqp.connect(place.url)).on('error', () => {}) as never;
  const queue = rabbitmqQueue({ connect, queue: name, attempts, retryDelaysMs: [5, 50], ...bodies });
  const work = (on: WorkerOptions) => void queue.work({ ...on, concurrency: CONCURRENCY });
  return { queue, work, close: () => queue.close() };
}

function bodiesOf({ overflow }: QueuePlace): PayloadOptions {
  if (overflow === undefined) return {};
  return { overflow: sqliteOverflow(clientOf(overflow.driver, openSqlite(overflow.driver, overflow.file))) };
}
