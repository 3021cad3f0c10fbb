import type { Redis } from 'ioredis';
import type pg from 'pg';
import { poolOf, startPostgres } from '../../support/postgres.js';
import { findRedis, openIoredis } from '../../support/redis.js';

/** A database of its own on a real server, for one test file. */
export interface TestDatabase<Client> {
  url: string;
  client: Client;
  drop(): Promise<void>;
}

export async function createPostgresDatabase(): Promise<TestDatabase<pg.Pool> | undefined> {
  const server = await startPostgres();
  if (server === undefined) return undefined;
  const name = `queues_${process.pid}_${Date.now().toString(36)}`;
  await server.admin.query(`CREATE DATABASE ${name}`);
  const url = new URL(server.url);
  url.pathname = name;
  const client = poolOf(url.href);
  client.on('connect', (connection) => connection.on('error', () => {}));
  return {
    url: url.href,
    client,
    async drop() {
      await client.end();
      await server.admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await server.stop();
    },
  };
}

const DATABASES = 16;
const TAKEN = 'service-webhooks-queues-test';

/** The last of its databases that is not in use. */
export async function takeRedisDatabase(): Promise<TestDatabase<Redis> | undefined> {
  const server = await findRedis();
  if (server === undefined) return undefined;
  const client = openIoredis(server.url);
  for (let number = DATABASES - 1; number > 0; number -= 1) {
    await client.select(number);
    const taken = await client.set(TAKEN, process.pid, 'PX', 600_000, 'NX');
    if (taken === 'OK' && (await client.dbsize()) === 1) {
      const url = new URL(server.url);
      url.pathname = String(number);
      return {
        url: url.href,
        client,
        async drop() {
          await client.flushdb();
          client.disconnect();
          await server.stop();
        },
      };
    }
    if (taken === 'OK') await client.del(TAKEN);
  }
  throw new Error('every database of this Redis is in use');
}
