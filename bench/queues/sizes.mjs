// The bytes that a job of a delivery of 1 KiB takes in each engine: while it waits, and when it is done. The handler returns
// at once. `npm run build` first; Redis, PostgreSQL, RabbitMQ and NATS run on 127.0.0.1, and nothing else writes to Redis.
//
//   node bench/queues/sizes.mjs [jobs]
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import amqp from 'amqplib';
import { Queue, Worker } from 'bullmq';
import { Logger, runMigrations, runOnce } from 'graphile-worker';
import { Redis } from 'ioredis';
import Database from 'libsql';
import pg from 'pg';
import PgBoss from 'pg-boss';
import { entryOf } from '../library.mjs';

const JOBS = Number(process.argv[2] ?? 5_000);
const AT_ONCE = 16;
const name = `bench_sizes_${process.pid}`;
const connectionString = process.env.POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/test';
const on = { '*': () => {} };

const { toQueued } = await entryOf('queue');
let made = 0;

/** A queued delivery with a body of 1 KiB. */
function aQueued() {
  made += 1;
  const id = `evt_01J2Q4Z8R6N3W5Y7T9V1${String(made).padStart(6, '0')}`;
  const event = { id, type: 'stt.completed', version: '2026-07-11', jobId: 'clip_42', data: { text: '' } };
  event.timestamp = new Date().toISOString();
  event.data.text = 'some words '.repeat(100).slice(0, 1_024 - JSON.stringify(event).length);
  const body = new TextEncoder().encode(JSON.stringify(event));
  const unsigned = { webhookId: 'wh_1', attempt: 1, idempotencyKey: id };
  return toQueued(
    { event, body, scheme: 'v2', signedAt: Date.now(), secretIndex: 0, unsigned },
    `webhooks:${id}`,
    Date.now(),
  );
}

async function fill({ put }) {
  let left = JOBS;
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      await put(aQueued());
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

/** Resolves once a check is true. */
async function until(check) {
  while (!(await check())) await setTimeout(100);
}

const isEmpty = (queue) => until(async () => (await queue.stats()).depth === 0);

function print(engine, before, waiting, done) {
  const each = (bytes) => Math.round((bytes - before) / JOBS);
  console.log(JSON.stringify({ engine, waiting: each(waiting), done: each(done) }));
}

async function sqlite() {
  const { sqliteQueue } = await entryOf('queue/sqlite');
  const folder = mkdtempSync(join(tmpdir(), 'sizes-'));
  const file = join(folder, 'queue.db');
  const handle = new Database(file);
  const queue = sqliteQueue({ betterSqlite3: handle }, { name: 'bench' });
  const size = () => {
    handle.exec('VACUUM');
    handle.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    return statSync(file).size;
  };
  try {
    await queue.init();
    const before = size();
    await fill(queue);
    const waiting = size();
    const worker = queue.work({ on, logger: false, concurrency: AT_ONCE });
    await isEmpty(queue);
    await worker.stop();
    print('SQLite', before, waiting, size());
  } finally {
    handle.close();
    rmSync(folder, { recursive: true });
  }
}

async function bullmq() {
  const { bullmqQueue, bullmqProcessor } = await entryOf('queue/bullmq');
  const connection = new Redis(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379', { maxRetriesPerRequest: null });
  const bull = new Queue(name, { connection, streams: { events: { maxLen: 10 } } });
  const queue = bullmqQueue({ queue: bull });
  const used = async () => Number(/used_memory:(\d+)/.exec(await connection.info('memory'))[1]);
  try {
    await queue.init();
    const before = await used();
    await fill(queue);
    const waiting = await used();
    const worker = new Worker(name, bullmqProcessor({ on, logger: false }), {
      connection,
      concurrency: AT_ONCE,
      maxStalledCount: 1_000,
    });
    await isEmpty(queue);
    await worker.close();
    print('BullMQ', before, waiting, await used());
  } finally {
    await bull.obliterate({ force: true });
    await bull.close();
    connection.disconnect();
  }
}

/** The bytes of all tables and indexes whose names begin with that of the schema. */
async function postgresSize(pool, schema) {
  const { rows } = await pool.query(
    `SELECT format('%I.%I', schemaname, tablename) AS of FROM pg_tables WHERE schemaname = $1 OR tablename LIKE $1 || '%'`,
    [schema],
  );
  let bytes = 0;
  for (const { of } of rows) {
    await pool.query(`VACUUM FULL ${of}`);
    bytes += Number((await pool.query('SELECT pg_total_relation_size($1::regclass) AS bytes', [of])).rows[0].bytes);
  }
  return bytes;
}

async function pgBoss() {
  const { pgBossQueue, pgBossProcessor } = await entryOf('queue/pg-boss');
  const schema = `${name}_boss`;
  const pool = new pg.Pool({ connectionString });
  const boss = new PgBoss({ connectionString, schema, supervise: false });
  boss.on('error', (error) => console.error(error.message));
  try {
    await boss.start();
    const queue = pgBossQueue({ boss, queue: 'bench', schema });
    await queue.init();
    const before = await postgresSize(pool, schema);
    await fill(queue);
    const waiting = await postgresSize(pool, schema);
    const settings = { batchSize: 500, pollingIntervalSeconds: 0.5 };
    await boss.work('bench', settings, pgBossProcessor({ boss, schema, on, logger: false }));
    await isEmpty(queue);
    await boss.offWork('bench');
    print('pg-boss', before, waiting, await postgresSize(pool, schema));
  } finally {
    await boss.stop({ graceful: false, wait: true });
    await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
    await pool.end();
  }
}

async function graphileWorker() {
  const { graphileWorkerQueue, graphileWorkerProcessor } = await entryOf('queue/graphile-worker');
  const schema = `${name}_graphile`;
  const pool = new pg.Pool({ connectionString });
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  try {
    await runMigrations({ connectionString, schema });
    const queue = graphileWorkerQueue({ pg: pool, task: 'bench', schema, table: `${schema}_keys` });
    await queue.init();
    const before = await postgresSize(pool, schema);
    await fill(queue);
    const waiting = await postgresSize(pool, schema);
    const taskList = { bench: graphileWorkerProcessor({ on, schema, logger: false }) };
    const logger = new Logger(() => () => {});
    await runOnce({ pgPool: pool, schema, taskList, logger, noHandleSignals: true, concurrency: AT_ONCE });
    await isEmpty(queue);
    print('graphile-worker', before, waiting, await postgresSize(pool, schema));
  } finally {
    await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE; DROP TABLE IF EXISTS ${schema}_keys`);
    await pool.end();
  }
}

/** Of the content of a message, since RabbitMQ does not tell what a quorum queue takes. It keeps nothing of a finished job. */
async function rabbitmq() {
  const { rabbitmqQueue } = await entryOf('queue/rabbitmq');
  const open = () => amqp.connect(process.env.RABBITMQ_URL ?? 'amqp://guest:guest@127.0.0.1:5672');
  const queue = rabbitmqQueue({ connect: open, queue: name });
  const connection = await open();
  const channel = await connection.createChannel();
  try {
    await queue.init();
    await queue.put(aQueued());
    const message = await channel.get(name);
    channel.nack(message);
    const worker = queue.work({ on, logger: false });
    await isEmpty(queue);
    await worker.stop();
    const { messageCount } = await channel.checkQueue(name);
    console.log(JSON.stringify({ engine: 'RabbitMQ', waiting: message.content.length, done: messageCount }));
  } finally {
    await queue.close();
    const others = ['.dead', '.unreadable', '.marks', '.operator', ...[1, 10, 60, 600].map((s) => `.retry.${s}000`)];
    for (const suffix of ['', ...others]) await channel.deleteQueue(name + suffix);
    await connection.close();
  }
}

async function nats() {
  const { natsQueue } = await entryOf('queue/nats');
  const connection = await connect({ servers: process.env.NATS_URL ?? '127.0.0.1:4222' });
  const client = jetstream(connection);
  const { streams } = await client.jetstreamManager();
  const queue = natsQueue({ jetstream: client, stream: name });
  const size = async () => (await streams.info(name)).state.bytes;
  try {
    await queue.init();
    await fill(queue);
    const waiting = await size();
    const worker = queue.work({ on, logger: false, concurrency: AT_ONCE });
    await isEmpty(queue);
    await worker.stop();
    print('NATS JetStream', 0, waiting, await size());
  } finally {
    await streams.delete(name);
    await connection.close();
  }
}

for (const measure of [sqlite, bullmq, pgBoss, graphileWorker, rabbitmq, nats]) await measure();
