import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { DedupeStore, EndpointOptions, Handler, Handlers } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/node';
import { dynamodbInbox } from 'service-webhooks/stores/dynamodb';
import { postgresInbox } from 'service-webhooks/stores/postgres';
import { sqliteInbox } from 'service-webhooks/stores/sqlite';
import { clientOf } from '../integration/sqlite.js';
import { SECRET } from '../support/deliveries.js';
import { openFile, openPool, openStore, openTable, type Place } from './places.js';

/** On the way of a delivery. With an inbox, `claimed` is: recorded in the transaction; `completed` is: committed. */
export type Point = 'claimed' | 'in the handler' | 'after the effect' | 'before the commit' | 'completed';

/** The settings of a receiver of these tests. */
export interface Task {
  place: Place;
  /** Where effects are written: a file, or with an inbox a table in its database. */
  effects: string;
  /** An inbox instead of a store. */
  inbox?: boolean;
  /** Where each delivery stops, and is said to be, until the process gets its message. */
  stopAt?: Point | undefined;
  /** The longest random pause before and after the effect. */
  jitterMs?: number;
  /** The handler throws after the effect. */
  fails?: boolean;
  clockMs?: number;
  /** Of the endpoint; by default the one that all senders here know. */
  secret?: string;
  toleranceSeconds?: number;
  leaseMs?: number;
  deadlineMs?: number;
}

/** What it says: first where it is, then what its deliveries come to. */
export type Said =
  | { port: number; pid: number }
  | { at: Point }
  | { outcome: string; attempt?: number | undefined; fence?: number | undefined };

const task: Task = JSON.parse(process.argv[2] ?? '{}');
const { place, effects, stopAt, jitterMs = 0, clockMs = 0, leaseMs = 600, deadlineMs } = task;
const { secret = SECRET, toleranceSeconds } = task;
const say = (said: Said) => process.send?.(said);
const messaged = new Promise<void>((resolve) => process.once('message', () => resolve()));

const realNow = Date.now;
Date.now = () => realNow() + clockMs;

async function stop(at: Point): Promise<void> {
  if (at !== stopAt) return;
  say({ at });
  await messaged;
}

/** In the middle of what cannot wait. */
function die(at: Point): void {
  if (at !== stopAt) return;
  say({ at });
  process.kill(process.pid, 'SIGKILL');
}

const options = await (task.inbox ? withInbox() : withStore());
const server = createServer(
  webhookHandler({
    logger: false,
    secret,
    toleranceSeconds,
    deadlineMs,
    observe(outcome) {
      const { attempt, fence } = 'fence' in outcome ? outcome : {};
      say({ outcome: outcome.kind, attempt, fence });
    },
    ...options,
  }),
);
server.listen(0, '127.0.0.1', () => say({ port: (server.address() as { port: number }).port, pid: process.pid }));

async function withStore(): Promise<{ dedupe: EndpointOptions['dedupe']; on: Handlers }> {
  const store = await openStore(place);
  const stopping: DedupeStore = {
    ...store,
    async claim(request) {
      const reply = await store.claim(request);
      await stop('claimed');
      return reply;
    },
    async complete(ref, durations) {
      const reply = await store.complete(ref, durations);
      await stop('completed');
      return reply;
    },
  };
  const handler: Handler = async (event, { fence }) => {
    await stop('in the handler');
    await pause(Math.random() * jitterMs);
    appendFileSync(effects, `${JSON.stringify({ id: event.id, fence })}\n`);
    await stop('after the effect');
    await pause(Math.random() * jitterMs);
    if (task.fails) throw new Error('failed after the effect');
  };
  return { dedupe: { store: stopping, name: 'faults', leaseMs }, on: { '*': handler } };
}

async function withInbox(): Promise<{ dedupe: EndpointOptions['dedupe']; on: Handlers }> {
  if (place.kind === 'postgres') return { dedupe: false, on: { '*': await postgresHandler(place) } };
  if (place.kind === 'sqlite') return { dedupe: false, on: { '*': await sqliteHandler(place) } };
  if (place.kind === 'dynamodb') return { dedupe: false, on: { '*': await dynamodbHandler(place) } };
  throw new Error(`there is no inbox for ${place.kind}`);
}

async function postgresHandler(database: Extract<Place, { kind: 'postgres' }>): Promise<Handler> {
  const pool = await openPool(database);
  const inbox = postgresInbox({ pg: pool }, { table: `${database.schema}.inbox`, name: 'default' });
  await inbox.init();
  return async (event, { delivery }) => {
    await stop('in the handler');
    const client = await pool.connect();
    let broken: Error | undefined;
    try {
      await client.query('BEGIN');
      await inbox.once(client, delivery, async () => {
        await stop('claimed');
        await pause(Math.random() * jitterMs);
        await client.query(`INSERT INTO ${effects} VALUES ($1)`, [event.id]);
        await stop('after the effect');
        await pause(Math.random() * jitterMs);
      });
      await stop('before the commit');
      await client.query('COMMIT');
    } catch (error) {
      await client.query('ROLLBACK').catch((failed) => {
        broken = failed;
      });
      throw error;
    } finally {
      client.release(broken);
    }
    await stop('completed');
  };
}

async function sqliteHandler(file: Extract<Place, { kind: 'sqlite' }>): Promise<Handler> {
  const handle = openFile(file);
  const inbox = sqliteInbox(clientOf(file.driver, handle), { name: 'default' });
  await inbox.init();
  const insert = handle.prepare(`INSERT INTO ${effects} VALUES (?)`);
  return async (event, { delivery }) => {
    await stop('in the handler');
    await pause(Math.random() * jitterMs);
    inbox.once(delivery, () => {
      die('claimed');
      insert.run(event.id);
      die('after the effect');
    });
    await stop('completed');
    await pause(Math.random() * jitterMs);
  };
}

/** Its transaction is one request, so that nothing happens between what comes before and after it. */
async function dynamodbHandler(place: Extract<Place, { kind: 'dynamodb' }>): Promise<Handler> {
  const inbox = dynamodbInbox({ dynamodb: await openTable(place) }, { table: place.table, name: 'default' });
  return async (event, { delivery }) => {
    await stop('in the handler');
    await stop('claimed');
    await pause(Math.random() * jitterMs);
    await stop('after the effect');
    await inbox.once(delivery, [
      {
        Update: {
          TableName: effects,
          Key: { pk: { S: event.id } },
          UpdateExpression: 'ADD effects :one',
          ExpressionAttributeValues: { ':one': { N: '1' } },
        },
      },
    ]);
    await stop('completed');
    await pause(Math.random() * jitterMs);
  };
}
