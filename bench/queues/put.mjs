// Compares what a receiver does from a verified delivery to the confirmed put (the key, base64, JSON, the time limit and
// the queue's own part), and the put alone, with the engine's own call for the same bytes: latency one after the other,
// and CPU of this process. Redis, PostgreSQL, RabbitMQ and NATS run on 127.0.0.1.
//
//   npm run build && node bench/queues/put.mjs [sqlite bullmq …]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { toQueued } from 'service-webhooks/queue';

const ROUNDS = 9;
const PUTS = 400;
const name = `service-webhooks-bench-${process.pid}`;
const folder = mkdtempSync(join(tmpdir(), 'service-webhooks-bench-'));
const enqueueTo = await receiversPart();

/** Bundles the receiver's own part, which is no entry of the package. */
async function receiversPart() {
  const outfile = join(folder, 'enqueue.mjs');
  const entry = join(import.meta.dirname, '../../src/receiver/enqueue.ts');
  await build({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'esm' });
  return (await import(pathToFileURL(outfile).href)).enqueueTo;
}

const data = {
  clipId: 'clip_1',
  feature: 'tts',
  downloadUrl: `https://files.example/${'x'.repeat(600)}`,
  durationSec: 3,
};

function aDelivery() {
  const id = `evt_${crypto.randomUUID()}`;
  const timestamp = new Date().toISOString();
  const event = { id, type: 'generation.completed', version: '2026-07-11', jobId: 'clip_1', data, timestamp };
  const body = Buffer.from(JSON.stringify(event));
  return { event, body, scheme: 'v2', signedAt: 1, secretIndex: 0, unsigned: {} };
}

async function measure(call) {
  const deliveries = Array.from({ length: PUTS }, () => {
    const delivery = aDelivery();
    return { delivery, queued: toQueued(delivery, `bench:${delivery.event.id}`, Date.now()) };
  });
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  for (const one of deliveries) await call(one);
  const used = process.cpuUsage(cpu);
  return { us: ((performance.now() - start) * 1_000) / PUTS, cpu: (used.user + used.system) / PUTS };
}

/** Prints the medians of the rounds, in which the three take turns. `bare` is called with the delivery as it is queued. */
async function compare(engine, queue, bare) {
  const enqueue = enqueueTo(queue, 'event-id');
  const lease = { async complete() {}, async release() {} };
  const deadline = { remaining: () => 10_000 };
  const contenders = {
    bare: ({ queued }) => bare(queued),
    put: async ({ queued, delivery }) => expectQueued(await queue.put(queued, delivery.event)),
    receiver: async ({ delivery }) => expectQueued((await enqueue({ delivery, lease, deadline })).kind),
  };
  const names = Object.keys(contenders);
  for (const one of names) await measure(contenders[one]);
  const times = { bare: [], put: [], receiver: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const one of round % 2 ? names : names.toReversed()) times[one].push(await measure(contenders[one]));
  }
  const median = (one, figure) => times[one].map((time) => time[figure]).sort((a, b) => a - b)[ROUNDS >> 1];
  for (const one of names) {
    const [latency, cpu] = ['us', 'cpu'].map((figure) => {
      const us = median(one, figure);
      return `${us.toFixed(0)} us (${(us / median('bare', figure)).toFixed(2)})`;
    });
    console.log(`${engine.padEnd(16)} ${one.padEnd(9)} latency ${latency.padEnd(16)} CPU ${cpu}`);
  }
}

function expectQueued(answer) {
  if (answer !== 'queued') throw new Error(`A new delivery was answered ${answer}.`);
}

const connectionString = 'postgres://postgres@127.0.0.1:5432/test';

/** The engines, each with its own call for the JSON of a delivery. */
const engines = {
  async sqlite() {
    const { default: Database } = await import('libsql');
    const { sqliteQueue } = await import('service-webhooks/queue/sqlite');
    const handle = new Database(join(folder, 'queue.db'));
    const queue = sqliteQueue({ betterSqlite3: handle }, { name: 'bench' });
    await queue.init();
    handle.exec('CREATE TABLE bare (id INTEGER PRIMARY KEY, key TEXT UNIQUE, job TEXT)');
    const insert = handle.prepare('INSERT INTO bare (key, job) VALUES (?, ?)');
    await compare('sqlite', queue, async (one) => insert.run(one.key, JSON.stringify(one)));
    handle.close();
  },

  async bullmq() {
    const { Queue } = await import('bullmq');
    const { Redis } = await import('ioredis');
    const { bullmqQueue } = await import('service-webhooks/queue/bullmq');
    const connection = new Redis({ maxRetriesPerRequest: null });
    const bull = new Queue(name, { connection });
    const options = { attempts: 10, removeOnComplete: { age: 259_200 } };
    await compare('bullmq', bullmqQueue({ queue: bull }), (one) =>
      bull.add('delivery', one, { ...options, jobId: encodeURIComponent(one.key) }),
    );
    await bull.obliterate({ force: true });
    await bull.close();
    connection.disconnect();
  },

  async rabbitmq() {
    const { default: amqp } = await import('amqplib');
    const { rabbitmqQueue } = await import('service-webhooks/queue/rabbitmq');
    const rabbit = await amqp.connect('amqp://guest:guest@127.0.0.1:5672');
    const queue = rabbitmqQueue({ connect: async () => rabbit, queue: name });
    await queue.init();
    const channel = await rabbit.createConfirmChannel();
    const publish = (one) =>
      new Promise((resolve, reject) => {
        const content = Buffer.from(JSON.stringify(one));
        channel.sendToQueue(name, content, { persistent: true }, (error) => (error ? reject(error) : resolve()));
      });
    await compare('rabbitmq', queue, publish);
    for (const suffix of ['', '.dead', '.unreadable', '.retry.1000', '.retry.10000', '.retry.60000', '.retry.600000']) {
      await channel.deleteQueue(name + suffix);
    }
    await rabbit.close();
  },

  async 'pg-boss'() {
    const { default: PgBoss } = await import('pg-boss');
    const { pgBossQueue } = await import('service-webhooks/queue/pg-boss');
    const boss = new PgBoss({ connectionString, schema: 'bench_boss', supervise: false });
    await boss.start();
    const queue = pgBossQueue({ boss, queue: 'bench', schema: 'bench_boss' });
    await queue.init();
    await compare('pg-boss', queue, (one) => boss.send('bench', one, { id: crypto.randomUUID() }));
    await boss.getDb().executeSql('DROP SCHEMA bench_boss CASCADE', []);
    await boss.stop({ graceful: false });
  },

  async 'graphile-worker'() {
    const { default: pg } = await import('pg');
    const { runMigrations } = await import('graphile-worker');
    const { graphileWorkerQueue } = await import('service-webhooks/queue/graphile-worker');
    const schema = 'bench_graphile';
    const pool = new pg.Pool({ connectionString });
    await runMigrations({ connectionString, schema });
    const queue = graphileWorkerQueue({ pg: pool, task: 'bench', schema, table: `${schema}_keys` });
    await queue.init();
    const addJob = `SELECT ${schema}.add_job('bench', $1::json, max_attempts := 10)`;
    await compare('graphile-worker', queue, (one) => pool.query(addJob, [JSON.stringify(one)]));
    await pool.query(`DROP SCHEMA ${schema} CASCADE; DROP TABLE ${schema}_keys`);
    await pool.end();
  },

  async nats() {
    const { jetstream } = await import('@nats-io/jetstream');
    const { connect } = await import('@nats-io/transport-node');
    const { natsQueue } = await import('service-webhooks/queue/nats');
    const nats = await connect({ servers: '127.0.0.1:4222' });
    const client = jetstream(nats);
    const queue = natsQueue({ jetstream: client, stream: name });
    await queue.init();
    const publish = (one) => client.publish(`${name}.jobs`, JSON.stringify(one), { msgID: one.key });
    await compare('nats', queue, publish);
    await (await client.jetstreamManager()).streams.delete(name);
    await nats.close();
  },
};

const wanted = process.argv.slice(2);
try {
  for (const engine of wanted.length > 0 ? wanted : Object.keys(engines)) await engines[engine]();
} finally {
  rmSync(folder, { recursive: true });
}
