import { bullmqQueue } from 'service-webhooks/queue/bullmq';
import { graphileWorkerQueue } from 'service-webhooks/queue/graphile-worker';
import { natsQueue } from 'service-webhooks/queue/nats';
import { pgBossQueue } from 'service-webhooks/queue/pg-boss';
import { rabbitmqQueue } from 'service-webhooks/queue/rabbitmq';
import { sqliteQueue } from 'service-webhooks/queue/sqlite';
import { describe, expect, it } from 'vitest';
import { refusal } from '../support/deliveries.js';

const bull = { name: 'x', add() {}, getJob() {}, waitUntilReady() {}, getBackend() {} };
const boss = { send() {}, getDb() {} };
const pg = { query() {} };
const jetstream = { publish() {}, jetstreamManager() {} };
const connect = () => {};
const db = { prepare: () => ({ get() {}, all: () => [], run: () => ({ changes: 0 }) }), exec() {} };
const { work } = sqliteQueue({ nodeSqlite: db } as never, { name: 'a' });

const refused: [make: (...options: never[]) => unknown, message: string, ...options: object[]][] = [
  [bullmqQueue, 'queue must be a Queue of BullMQ', {}],
  [bullmqQueue, "Did you mean 'attempts'?", { queue: bull, attempt: 1 }],
  [bullmqQueue, 'retainMs must be at least', { queue: bull, retainMs: 1 }],
  [bullmqQueue, 'name must be 1 to 64', { queue: bull, name: 'a:b' }],
  [pgBossQueue, 'boss must be a PgBoss', { queue: 'a' }],
  [pgBossQueue, "Did you mean 'queue'?", { queu: 'a' }],
  [pgBossQueue, 'queue must be a name', { boss, queue: 'a b' }],
  [pgBossQueue, 'schema must be a name', { boss, queue: 'a', schema: 'a;' }],
  [graphileWorkerQueue, 'pg must be a Pool', { task: 'a' }],
  [graphileWorkerQueue, "Did you mean 'pg'?", { pool: {}, task: 'a' }],
  [graphileWorkerQueue, 'task must be the identifier', { pg }],
  [graphileWorkerQueue, 'retainMs must be at least', { pg, task: 'a', retainMs: 1 }],
  [graphileWorkerQueue, 'attempts must be at most 32766', { pg, task: 'a', attempts: 32_767 }],
  [graphileWorkerQueue, 'table must be a name', { pg, task: 'a', table: 'a b' }],
  [natsQueue, 'jetstream must be', { stream: 'webhooks' }],
  [natsQueue, "Did you mean 'jetstream'?", { jetstream, stream: 'webhooks', connection: {} }],
  [natsQueue, 'it has no method publish()', { jetstream: {}, stream: 'webhooks' }],
  [natsQueue, 'stream must be 1 to 64', { jetstream, stream: 'a.b' }],
  [natsQueue, 'name must be 1 to 64', { jetstream, stream: 'webhooks', name: 'a:b' }],
  [natsQueue, 'ackWaitMs must be a positive integer', { jetstream, stream: 'webhooks', ackWaitMs: 0 }],
  [rabbitmqQueue, 'connect must be a function', { queue: 'a' }],
  [rabbitmqQueue, "Did you mean 'connect'?", { queue: 'a', connection: {} }],
  [rabbitmqQueue, 'queue must be the name', { connect }],
  [rabbitmqQueue, 'retryDelaysMs must be a list', { connect, queue: 'a', retryDelaysMs: [] }],
  [rabbitmqQueue, 'retryDelaysMs must be a positive integer', { connect, queue: 'a', retryDelaysMs: [0] }],
  [rabbitmqQueue, 'name must be 1 to 64', { connect, queue: 'a:b' }],
  [sqliteQueue, 'name must be 1 to 64', { betterSqlite3: db }, {}],
  [sqliteQueue, 'name must be 1 to 64', { betterSqlite3: db }, { name: 'a:b' }],
  [sqliteQueue, "Did you mean 'attempts'?", { betterSqlite3: db }, { name: 'a', attempt: 3 }],
  [sqliteQueue, 'retainMs must be at least', { betterSqlite3: db }, { name: 'a', retainMs: 1_000 }],
  [sqliteQueue, "order must be 'none' or 'jobId'", { betterSqlite3: db }, { name: 'a', order: 'id' }],
  [sqliteQueue, 'attempts must be a positive integer', { nodeSqlite: db }, { name: 'a', attempts: 0 }],
  [sqliteQueue, 'sqliteQueue takes { betterSqlite3: db } or', db, { name: 'a' }],
  [sqliteQueue, 'sqliteQueue takes { betterSqlite3: db } or', { nodeSqlite: db, betterSqlite3: db }, { name: 'a' }],
  [sqliteQueue, 'table must be a name', { betterSqlite3: db }, { name: 'a', table: 'a; drop' }],
  [work, 'concurrency must be a positive integer', { on: {}, concurrency: 0 }],
  [work, "Did you mean 'concurrency'?", { on: {}, concurency: 2 }],
];

describe('options of a queue or a worker that cannot be right', () => {
  it.each(refused.map(([make, message, ...options]) => [make.name, message, make, options] as const))(
    '%s says %j',
    (_, message, make, options) => {
      const error = refusal(() => make(...(options as never[])));
      expect(error.message).toContain(message);
      expect(error.code).toBe('invalid_option');
    },
  );
});
