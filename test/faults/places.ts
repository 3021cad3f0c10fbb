import { type DedupeStore, memoryStore } from 'service-webhooks';
import { dynamodbStore } from 'service-webhooks/stores/dynamodb';
import { mysqlStore } from 'service-webhooks/stores/mysql';
import { postgresStore } from 'service-webhooks/stores/postgres';
import { redisStore } from 'service-webhooks/stores/redis';
import { sqliteStore } from 'service-webhooks/stores/sqlite';
import { clientOf, type Driver, type Handle, openSqlite } from '../integration/sqlite.js';

/** Where a store keeps its rows, in words that another process understands. */
export type Place =
  | { kind: 'memory' }
  | { kind: 'redis'; url: string; keyPrefix: string }
  | { kind: 'postgres'; url: string; schema: string; settings?: string }
  | { kind: 'mysql'; url: string; isolation?: string }
  | { kind: 'sqlite'; driver: Driver; file: string }
  | { kind: 'dynamodb'; url: string; table: string; attempts?: number };

/** Ready to claim. Its connection is left to the end of the process. */
export async function openStore(place: Place): Promise<DedupeStore> {
  const store = await storeOf(place);
  await store.init?.();
  return store;
}

// Clients are imported where they are used: each takes longer to load than a process does to start.
async function storeOf(place: Place): Promise<DedupeStore> {
  switch (place.kind) {
    case 'memory':
      return memoryStore();
    case 'redis': {
      const { Redis } = await import('ioredis');
      const ioredis = new Redis(place.url, { retryStrategy: () => 20 }).on('error', () => {});
      return redisStore({ ioredis }, { keyPrefix: place.keyPrefix });
    }
    case 'postgres':
      return postgresStore({ pg: await openPool(place) }, { table: `${place.schema}.deliveries` });
    case 'mysql':
      return mysqlStore({ mysql2: await openMysqlPool(place) });
    case 'dynamodb': {
      const { table } = place;
      // The clocks of the processes are one clock.
      return dynamodbStore({ dynamodb: await openTable(place) }, { table, clockSkewMs: 1 });
    }
    case 'sqlite':
      return sqliteStore(clientOf(place.driver, openFile(place)));
  }
}

export async function openPool({ url, settings }: Extract<Place, { kind: 'postgres' }>) {
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({ connectionString: url, ...(settings === undefined ? {} : { options: settings }) });
  return pool.on('error', () => {});
}

async function openMysqlPool({ url, isolation }: Extract<Place, { kind: 'mysql' }>) {
  const { createPool } = await import('mysql2/promise');
  const pool = createPool(url);
  pool.pool.on('connection', (connection) => {
    if (isolation) connection.query(`SET SESSION TRANSACTION ISOLATION LEVEL ${isolation}`, () => {});
  });
  return pool;
}

export async function openTable({ url, attempts = 3 }: Extract<Place, { kind: 'dynamodb' }>) {
  const { openDynamodb } = await import('../support/dynamodb.js');
  return openDynamodb(url, { maxAttempts: attempts });
}

export function openFile({ driver, file }: Extract<Place, { kind: 'sqlite' }>): Handle {
  return openSqlite(driver, file); // without syncs: processes die here, the machine does not
}
