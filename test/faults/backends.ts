import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { libraries } from '../integration/sqlite-libraries.js';
import { startDynamodb, type TestDynamodb } from '../support/dynamodb.js';
import { startMysql } from '../support/mysql.js';
import { startPostgres } from '../support/postgres.js';
import { findRedis, openIoredis } from '../support/redis.js';
import { openFile, type Place } from './places.js';
import type { Random } from './random.js';
import type { Task } from './receiver-process.js';

/** Something real that stores keep their rows in. */
export interface Backend<P extends Place = Place> {
  name: P['kind'];
  place: P;
  /** Lets requests pause and fail from now on. */
  disturb?(random: Random): void;
  stop(): Promise<void>;
}

/** A receiver's store or inbox, and what its handlers have done. */
export interface Setup {
  name: string;
  task: Pick<Task, 'place' | 'effects' | 'inbox'>;
  /** The effects of an event, in the order in which they happened. */
  effectsOf(id: string): Promise<{ fence?: number }[]>;
  remove?(): void;
}

type Of<Kind extends Place['kind']> = Backend<Extract<Place, { kind: Kind }>>;

/** All that are to be had here; what is not says so, and is a failure in CI. */
export async function findBackends(): Promise<Backend[]> {
  const found: (Backend | undefined)[] = [
    await findRedisServer(),
    await findPostgres(),
    await findMysql(),
    findSqlite(),
    await findDynamodb(),
  ];
  return found.filter((backend) => backend !== undefined);
}

async function findRedisServer(): Promise<Of<'redis'> | undefined> {
  const server = await findRedis();
  if (server === undefined) return undefined;
  const keyPrefix = `test-${crypto.randomUUID()}:`;
  return {
    name: 'redis',
    place: { kind: 'redis', url: server.url, keyPrefix },
    async stop() {
      const admin = openIoredis(server.url);
      const keys = await admin.keys(`${keyPrefix}*`);
      if (keys.length > 0) await admin.unlink(keys);
      admin.disconnect();
      await server.stop();
    },
  };
}

async function findPostgres(): Promise<(Of<'postgres'> & { query: Query }) | undefined> {
  const server = await startPostgres();
  if (server === undefined) return undefined;
  const { url, schema, admin, stop } = server;
  return {
    name: 'postgres',
    place: { kind: 'postgres', url, schema },
    query: (sql, values) => admin.query(sql, values),
    stop,
  };
}

type Query = (sql: string, values?: unknown[]) => Promise<{ rows: { [column: string]: unknown }[] }>;

async function findMysql(): Promise<Of<'mysql'> | undefined> {
  const server = await startMysql();
  return server && { name: 'mysql', place: { kind: 'mysql', url: server.url }, stop: server.stop };
}

/** With the first library that is there. */
function findSqlite(): Of<'sqlite'> | undefined {
  const [library] = libraries;
  if (library === undefined) return undefined;
  const directory = mkdtempSync(join(tmpdir(), 'service-webhooks-faults-'));
  const [, driver] = library;
  return {
    name: 'sqlite',
    place: { kind: 'sqlite', driver, file: join(directory, 'test.db') },
    stop: async () => rmSync(directory, { recursive: true }),
  };
}

async function findDynamodb(): Promise<Of<'dynamodb'> & { server: TestDynamodb }> {
  const server = await startDynamodb();
  return {
    name: 'dynamodb',
    place: { kind: 'dynamodb', url: server.url, table: await server.newTable() },
    server,
    disturb(random) {
      server.faults = (operation) => {
        server.sent.length = 0; // too many to keep
        if (operation === 'GetItem') return undefined; // of init, without which a process does not begin
        const dice = random();
        if (dice < 0.05) return { pauseMs: random() * 30 };
        if (dice < 0.07) return 'cut before the write';
        if (dice < 0.09) return 'cut after the write';
        return dice < 0.1 ? 'throttled' : undefined;
      };
    },
    stop: server.stop,
  };
}

/** A store, with effects that nothing ties to it. */
export function storeSetup({ name, place }: Backend): Setup & { remove(): void } {
  const directory = mkdtempSync(join(tmpdir(), 'service-webhooks-effects-'));
  const effects = join(directory, 'effects');
  return {
    name: `${name}Store`,
    task: { place, effects },
    async effectsOf(id) {
      const lines = existsSync(effects) ? readFileSync(effects, 'utf8').split('\n') : [];
      return lines.filter((line) => line.includes(`"${id}"`)).map((line) => JSON.parse(line));
    },
    remove: () => rmSync(directory, { recursive: true }),
  };
}

async function postgresInboxSetup(backend: Of<'postgres'> & { query: Query }): Promise<Setup> {
  const effects = `${backend.place.schema}.effects`;
  await backend.query(`CREATE TABLE ${effects} (id text)`);
  return {
    name: 'postgresInbox',
    task: { place: backend.place, effects, inbox: true },
    effectsOf: async (id) => (await backend.query(`SELECT FROM ${effects} WHERE id = $1`, [id])).rows,
  };
}

function sqliteInboxSetup({ place }: Of<'sqlite'>): Setup & { remove(): void } {
  const handle = openFile(place);
  handle.exec('PRAGMA journal_mode = WAL; CREATE TABLE effects (id TEXT)');
  const count = handle.prepare('SELECT count(*) AS n FROM effects WHERE id = ?');
  return {
    name: 'sqliteInbox',
    task: { place, effects: 'effects', inbox: true },
    effectsOf: async (id) => Array(Number((count.get(id) as { n: number }).n)).fill({}),
    remove: () => handle.close(),
  };
}

async function dynamodbInboxSetup({ place, server }: Of<'dynamodb'> & { server: TestDynamodb }): Promise<Setup> {
  const [effects, client] = [await server.newTable(), server.open()];
  return {
    name: 'dynamodbInbox',
    task: { place, effects, inbox: true },
    async effectsOf(id) {
      const { Item } = await client.send(new GetItemCommand({ TableName: effects, Key: { pk: { S: id } } }));
      return Array(Number(Item?.['effects']?.N ?? 0)).fill({});
    },
  };
}

/** A setup for each store and each inbox that is to be had here. */
export async function findSetups(): Promise<{ stores: Setup[]; inboxes: Setup[]; stop(): Promise<void> }> {
  const [redis, postgres, mysql] = [await findRedisServer(), await findPostgres(), await findMysql()];
  const [sqlite, dynamodb] = [findSqlite(), await findDynamodb()];
  const backends = [redis, postgres, mysql, sqlite, dynamodb].filter((backend) => backend !== undefined);
  const stores: Setup[] = backends.map(storeSetup);
  const inboxes: Setup[] = [];
  if (postgres) inboxes.push(await postgresInboxSetup(postgres));
  if (sqlite) inboxes.push(sqliteInboxSetup(sqlite));
  inboxes.push(await dynamodbInboxSetup(dynamodb));
  return {
    stores,
    inboxes,
    async stop() {
      for (const setup of [...stores, ...inboxes]) setup.remove?.();
      for (const backend of backends) await backend.stop();
    },
  };
}
