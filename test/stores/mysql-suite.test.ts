import mysql from 'mysql2';
import type { Pool } from 'mysql2/promise';
import { type MysqlClient, mysqlStore } from 'service-webhooks/stores/mysql';
import { type StoreSuiteOptions, type StoreUnderTest, storeSuite } from 'service-webhooks-suites';
import { afterAll, describe, it } from 'vitest';
import { isolation, killConnections, poolOf, startMysql, type TestMysql } from '../support/mysql.js';
import { RACES } from '../support/scale.js';

const server = await startMysql();
const closing: (() => Promise<unknown>)[] = [];

afterAll(async () => {
  for (const close of closing) await close();
  await server?.stop();
});

describe.runIf(server)('mysqlStore', () => {
  describe('where transactions are REPEATABLE READ by default', () => {
    const pools: Pool[] = [];
    suite('repeatable', (found) => [open(found, 'REPEATABLE READ', pools), open(found, 'REPEATABLE READ', pools)], {
      rounds: RACES,
      async disconnect() {
        for (const pool of pools) await killConnections(server?.admin as Pool, pool);
      },
      restart: () =>
        mysqlStore(open(server as TestMysql, 'REPEATABLE READ'), { table: `${server?.database}.repeatable` }),
      unreachable: () => mysqlStore({ mysql2: poolOf('mysql://root@127.0.0.1:1/test') }),
    });
  });

  describe('where transactions are READ COMMITTED by default', () => {
    suite('committed', (found) => [open(found, 'READ COMMITTED'), open(found, 'READ COMMITTED')], {
      ...QUICK,
      rounds: RACES,
    });
  });

  describe('where transactions are SERIALIZABLE by default, and over a pool of callbacks', () => {
    suite('strict', (found) => [open(found, 'SERIALIZABLE'), openCallbacks(found)], QUICK);
  });

  describe('where the pool has turned autocommit off', () => {
    const off = ['SET autocommit = 0'];
    suite('off', (found) => [open(found, 'REPEATABLE READ', [], off), open(found, 'SERIALIZABLE', [], off)], QUICK);
  });

  describe('without a strict SQL mode', () => {
    const loose = ["SET SESSION sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,IGNORE_SPACE'"];
    suite('loose', (found) => [open(found, 'READ COMMITTED', [], loose), open(found, 'REPEATABLE READ')], QUICK);
  });
});

/** Time moves at once, since the rows are made older. */
const QUICK: Partial<StoreSuiteOptions<Made>> = {
  rounds: 15,
  async advance({ table }, ms) {
    const step = `${ms} * 1000`;
    await server?.admin.query(
      `UPDATE ${table} SET lease_until = lease_until - ${step}, expires_at = GREATEST(0, expires_at - ${step})`,
    );
    if (!(await hasJobs(table))) return;
    await server?.admin.query(`UPDATE ${table}_jobs SET due_at = due_at - ${ms}, expires_at = expires_at - ${step}`);
  },
};

type Made = StoreUnderTest & { table: string };

/** The table of the jobs is created by their own init. */
async function hasJobs(table: string): Promise<boolean> {
  const name = `${table.split('.')[1]}_jobs`;
  const [rows] = (await server?.admin.query(`SHOW TABLES LIKE '${name}'`)) ?? [[]];
  return (rows as unknown[]).length > 0;
}

function suite(
  name: string,
  clients: (found: TestMysql) => [MysqlClient, MysqlClient],
  options: Partial<StoreSuiteOptions<Made>>,
): void {
  if (server === undefined) return;
  const table = `${server.database}.${name}`;
  const [store, store2] = clients(server).map((client) => mysqlStore(client, { table }));
  const cases = storeSuite<Made>({
    make: () => ({ store, store2, table }) as Made,
    evict: (_, key) => server.admin.query(`DELETE FROM ${table} WHERE \`key\` = ?`, [key]),
    raw: async (_, key) => (await server.admin.query(`SELECT * FROM ${table} WHERE \`key\` = ?`, [key]))[0],
    ...options,
  });
  for (const { name: sentence, skip, run } of cases) it.skipIf(skip)(sentence, run);
}

function open({ url }: TestMysql, level: string, pools: Pool[] = [], session: readonly string[] = []): MysqlClient {
  const pool = poolOf(url, {}, [isolation(level), ...session]);
  pools.push(pool);
  closing.push(() => pool.end());
  return { mysql2: pool };
}

function openCallbacks({ url }: TestMysql): MysqlClient {
  const pool = mysql.createPool({ uri: url, connectionLimit: 6 });
  closing.push(() => pool.promise().end());
  return { mysql2: pool };
}
