// The stores and queues whose latency is measured: what each gives to a receiver, and how all that it has created is removed.
import { join } from 'node:path';
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import amqp from 'amqplib';
import { Queue } from 'bullmq';
import { runMigrations } from 'graphile-worker';
import { Redis } from 'ioredis';
import Database from 'libsql';
import pg from 'pg';
import PgBoss from 'pg-boss';
import { entryOf } from '../library.mjs';

const {
  REDIS_URL = 'redis://127.0.0.1:6379',
  POSTGRES_URL: connectionString = 'postgres://postgres@127.0.0.1:5432/test',
  RABBITMQ_URL = 'amqp://guest:guest@127.0.0.1:5672',
  NATS_URL = '127.0.0.1:4222',
} = process.env;
const RABBITMQ_QUEUES = ['', '.dead', '.unreadable', '.marks', '.operator'].concat(
  [1_000, 10_000, 60_000, 600_000].map((delay) => `.retry.${delay}`),
);

const store = (opened) => ({ dedupe: { store: opened, name: 'bench' } });

async function drop(...objects) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  for (const object of objects) await client.query(`DROP ${object} CASCADE`);
  await client.end();
}

/**
 * By name: `open({ name, folder })` returns the options of a receiver, and `remove({ name })` removes what that has created
 * on a server. `name` is a word that no other run uses; files go to `folder`.
 */
export const places = {
  'no dedupe': { open: () => ({ dedupe: false }) },
  'memory store': {
    async open() {
      const { memoryStore } = await entryOf('index');
      return store(memoryStore());
    },
  },
  'SQLite store': {
    async open({ folder }) {
      const { sqliteStore } = await entryOf('stores/sqlite');
      const handle = new Database(join(folder, 'store.db'));
      handle.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
      const opened = sqliteStore({ betterSqlite3: handle });
      await opened.init();
      return store(opened);
    },
  },
  'Redis store': {
    async open({ name }) {
      const { redisStore } = await entryOf('stores/redis');
      return store(redisStore({ ioredis: new Redis(REDIS_URL) }, { keyPrefix: `${name}:` }));
    },
    async remove({ name }) {
      const redis = new Redis(REDIS_URL);
      for await (const keys of redis.scanStream({ match: `${name}:*`, count: 1_000 })) {
        if (keys.length > 0) await redis.unlink(keys);
      }
      redis.disconnect();
    },
  },
  'PostgreSQL store': {
    async open({ name }) {
      const { postgresStore } = await entryOf('stores/postgres');
      const pool = new pg.Pool({ connectionString });
      await pool.query(`CREATE SCHEMA ${name}_store`);
      const opened = postgresStore({ pg: pool }, { table: `${name}_store.deliveries` });
      await opened.init();
      return store(opened);
    },
    remove: ({ name }) => drop(`SCHEMA IF EXISTS ${name}_store`),
  },
  'SQLite queue': {
    async open({ folder }) {
      const { sqliteQueue } = await entryOf('queue/sqlite');
      return { queue: sqliteQueue({ betterSqlite3: new Database(join(folder, 'queue.db')) }, { name: 'bench' }) };
    },
  },
  'BullMQ queue': {
    async open({ name }) {
      const { bullmqQueue } = await entryOf('queue/bullmq');
      return { queue: bullmqQueue({ queue: new Queue(name, { connection: new Redis(REDIS_URL) }) }) };
    },
    async remove({ name }) {
      const connection = new Redis(REDIS_URL);
      const queue = new Queue(name, { connection });
      await queue.obliterate({ force: true });
      await queue.close();
      connection.disconnect();
    },
  },
  'pg-boss queue': {
    async open({ name }) {
      const { pgBossQueue } = await entryOf('queue/pg-boss');
      const schema = `${name}_boss`;
      const boss = new PgBoss({ connectionString, schema, supervise: false });
      await boss.start();
      return { queue: pgBossQueue({ boss, queue: 'bench', schema }) };
    },
    remove: ({ name }) => drop(`SCHEMA IF EXISTS ${name}_boss`),
  },
  'graphile-worker queue': {
    async open({ name }) {
      const { graphileWorkerQueue } = await entryOf('queue/graphile-worker');
      const schema = `${name}_graphile`;
      await runMigrations({ connectionString, schema });
      const pool = new pg.Pool({ connectionString });
      return { queue: graphileWorkerQueue({ pg: pool, task: 'bench', schema, table: `${schema}_keys` }) };
    },
    remove: ({ name }) => drop(`SCHEMA IF EXISTS ${name}_graphile`, `TABLE IF EXISTS ${name}_graphile_keys`),
  },
  'RabbitMQ queue': {
    async open({ name }) {
      const { rabbitmqQueue } = await entryOf('queue/rabbitmq');
      return { queue: rabbitmqQueue({ connect: () => amqp.connect(RABBITMQ_URL), queue: name }) };
    },
    async remove({ name }) {
      const connection = await amqp.connect(RABBITMQ_URL);
      const channel = await connection.createChannel();
      for (const suffix of RABBITMQ_QUEUES) await channel.deleteQueue(name + suffix);
      await connection.close();
    },
  },
  'NATS JetStream queue': {
    async open({ name }) {
      const { natsQueue } = await entryOf('queue/nats');
      return { queue: natsQueue({ jetstream: jetstream(await connect({ servers: NATS_URL })), stream: name }) };
    },
    async remove({ name }) {
      const connection = await connect({ servers: NATS_URL });
      const { streams } = await jetstream(connection).jetstreamManager();
      await streams.delete(name);
      await connection.close();
    },
  },
};
