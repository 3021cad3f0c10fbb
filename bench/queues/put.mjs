// Compares a put with the engine's own call for the same bytes: latency one after the other, and CPU of this process.
// `npm run build` first; Redis, PostgreSQL, RabbitMQ and NATS run on 127.0.0.1. Run it with `node bench/queues/put.mjs`.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import amqp from 'amqplib';
import { Queue } from 'bullmq';
import { runMigrations } from 'graphile-worker';
import { Redis } from 'ioredis';
import Database from 'libsql';
import pg from 'pg';
import PgBoss from 'pg-boss';
import { bullmqQueue } from '../../src/queue/bullmq/bullmq-queue.js';
import { graphileWorkerQueue } from '../../src/queue/graphile-worker/graphile-worker-queue.js';
import { natsQueue } from '../../src/queue/nats/nats-queue.js';
import { pgBossQueue } from '../../src/queue/pg-boss/pg-boss-queue.js';
import { rabbitmqQueue } from '../../src/queue/rabbitmq/rabbitmq-queue.js';
import { sqliteQueue } from '../../src/queue/sqlite/sqlite-queue.js';

const ROUNDS = 5;
const PUTS = 400;
const name = `service-webhooks-bench-${process.pid}`;

const data = {
  clipId: 'clip_1',
  feature: 'tts',
  downloadUrl: `https://files.example/${'x'.repeat(600)}`,
  durationSec: 3,
};

function aQueued() {
  const id = `evt_${crypto.randomUUID()}`;
  const event = {
    id,
    type: 'generation.completed',
    version: '2026-07-11',
    jobId: 'clip_1',
    data,
    timestamp: new Date(),
  };
  const body = btoa(JSON.stringify(event));
  return {
    v: 1,
    key: `bench:${id}`,
    body,
    scheme: 'v2',
    signedAt: 1,
    receivedAt: Date.now(),
    secretIndex: 0,
    unsigned: {},
  };
}

async function measure(call) {
  const deliveries = Array.from({ length: PUTS }, () => aQueued());
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  for (const one of deliveries) await call(one);
  const used = process.cpuUsage(cpu);
  return { us: ((performance.now() - start) * 1_000) / PUTS, cpu: (used.user + used.system) / PUTS };
}

/** The median of the rounds, which take turns. */
async function compare(engine, bare, put) {
  await measure(bare);
  await measure(put);
  const rounds = [];
  for (let i = 0; i < ROUNDS; i += 1) rounds.push([await measure(bare), await measure(put)]);
  const median = (of) => rounds.map(of).sort((a, b) => a - b)[ROUNDS >> 1] ?? 0;
  const [bareUs, putUs] = [median(([a]) => a.us), median(([, b]) => b.us)];
  const [bareCpu, putCpu] = [median(([a]) => a.cpu), median(([, b]) => b.cpu)];
  const row = { engine, bareUs, putUs, ratio: putUs / bareUs, bareCpu, putCpu, cpuRatio: putCpu / bareCpu };
  console.log(JSON.stringify(row, (_, value) => (typeof value === 'number' ? Number(value.toFixed(2)) : value)));
}

const folder = mkdtempSync(join(tmpdir(), 'service-webhooks-bench-'));
const handle = new Database(join(folder, 'queue.db'));
const sqlite = sqliteQueue({ betterSqlite3: handle }, { name: 'bench' });
await sqlite.init();
handle.exec('CREATE TABLE bare (id INTEGER PRIMARY KEY, key TEXT UNIQUE, job TEXT)');
const insert = handle.prepare('INSERT INTO bare (key, job) VALUES (?, ?)');
await compare('sqlite', async (one) => insert.run(one.key, JSON.stringify(one)), sqlite.put);
handle.close();
rmSync(folder, { recursive: true });

const connection = new Redis({ maxRetriesPerRequest: null });
const bull = new Queue(name, { connection });
const bullQueue = bullmqQueue({ queue: bull });
const jobOptions = { attempts: 10, removeOnComplete: { age: 259_200 } };
await compare(
  'bullmq',
  (one) => bull.add('delivery', one, { ...jobOptions, jobId: encodeURIComponent(one.key) }),
  bullQueue.put,
);
await bull.obliterate({ force: true });
await bull.close();
connection.disconnect();

const rabbit = await amqp.connect('amqp://guest:guest@127.0.0.1:5672');
const rabbitQueue = rabbitmqQueue({ connect: async () => rabbit, queue: name });
await rabbitQueue.init?.();
const channel = await rabbit.createConfirmChannel();
const publish = (one) =>
  new Promise((resolve, reject) => {
    const options = { persistent: true };
    channel.sendToQueue(name, Buffer.from(JSON.stringify(one)), options, (error) =>
      error ? reject(error) : resolve(0),
    );
  });
await compare('rabbitmq', publish, rabbitQueue.put);
for (const suffix of ['', '.dead', '.unreadable', '.retry.1000', '.retry.10000', '.retry.60000', '.retry.600000']) {
  await channel.deleteQueue(name + suffix);
}
await rabbit.close();

const connectionString = 'postgres://postgres@127.0.0.1:5432/test';
const boss = new PgBoss({
  connectionString,
  schema: 'bench_boss',
  supervise: false,
});
await boss.start();
const bossQueue = pgBossQueue({ boss, queue: 'bench', schema: 'bench_boss' });
await bossQueue.init?.();
await compare('pg-boss', (one) => boss.send('bench', one, { id: crypto.randomUUID() }), bossQueue.put);
await boss.getDb().executeSql('DROP SCHEMA bench_boss CASCADE', []);
await boss.stop({ graceful: false });

const schema = 'bench_graphile';
const pool = new pg.Pool({ connectionString });
await runMigrations({ connectionString, schema });
const graphileQueue = graphileWorkerQueue({ pg: pool, task: 'bench', schema, table: `${schema}_keys` });
await graphileQueue.init?.();
const addJob = `SELECT ${schema}.add_job('bench', $1::json, max_attempts := 10)`;
await compare('graphile-worker', (one) => pool.query(addJob, [JSON.stringify(one)]), graphileQueue.put);
await pool.query(`DROP SCHEMA ${schema} CASCADE; DROP TABLE ${schema}_keys`);
await pool.end();

const nats = await connect({ servers: '127.0.0.1:4222' });
const client = jetstream(nats);
const natsJobs = natsQueue({ jetstream: client, stream: name });
await natsJobs.init?.();
const publishToNats = (one) => client.publish(`${name}.jobs`, JSON.stringify(one), { msgID: one.key });
await compare('nats', publishToNats, natsJobs.put);
await (await client.jetstreamManager()).streams.delete(name);
await nats.close();
