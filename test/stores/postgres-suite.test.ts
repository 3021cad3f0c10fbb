import postgres from 'postgres';
import { type PostgresClient, postgresStore } from 'service-webhooks/stores/postgres';
import { type StoreSuiteOptions, type StoreUnderTest, storeSuite } from 'service-webhooks-suites';
import { afterAll, describe, it } from 'vitest';
import { poolOf, startPgBouncer, startPostgres, type TestPostgres } from '../support/postgres.js';
import { RACES } from '../support/scale.js';

const server = await startPostgres();
const bouncer = server && (await startPgBouncer(server.url));
const closing: (() => Promise<unknown>)[] = [];

afterAll(async () => {
  for (const close of closing) await close();
  await bouncer?.stop();
  await server?.stop();
});

describe.runIf(server)('postgresStore', () => {
  describe('over pg and postgres.js at once', () => {
    suite('mixed', (found) => [pgClient(found.url), postgresJsClient(found.url)], {
      rounds: RACES,
      async disconnect() {
        await server?.admin.query(
          'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1',
          [server.schema],
        );
      },
      restart: () => postgresStore(pgClient(server?.url ?? ''), { table: `${server?.schema}.mixed` }),
      unreachable: () => postgresStore({ pg: poolOf('postgres://postgres@127.0.0.1:1/test') }),
    });
  });

  describe('where transactions are REPEATABLE READ and SERIALIZABLE by default', () => {
    suite(
      'strict',
      (found) => [pgClient(found.url, 'repeatable read'), postgresJsClient(found.url, 'serializable')],
      QUICK,
    );
  });

  describe.runIf(bouncer)('through PgBouncer in transaction mode', () => {
    suite('bounced', () => [pgClient(bouncer?.url ?? ''), postgresJsClient(bouncer?.url ?? '')], QUICK);
  });
});

/** Time moves at once, since the rows are made older. */
const QUICK: Partial<StoreSuiteOptions<Made>> = {
  rounds: 15,
  async advance({ table }, ms) {
    const step = `interval '${ms} ms'`;
    await server?.admin.query(
      `UPDATE ${table} SET lease_until = lease_until - ${step}, expires_at = expires_at - ${step}`,
    );
    if (!(await hasJobs(table))) return;
    await server?.admin.query(`UPDATE ${table}_jobs SET due_at = due_at - ${ms}, expires_at = expires_at - ${step}`);
  },
};

type Made = StoreUnderTest & { table: string };

/** The table of the jobs is created by their own init. */
async function hasJobs(table: string): Promise<boolean> {
  const { rows } = (await server?.admin.query('SELECT to_regclass($1) AS jobs', [`${table}_jobs`])) ?? { rows: [] };
  return rows[0]?.jobs != null;
}

function suite(
  name: string,
  clients: (found: TestPostgres) => [PostgresClient, PostgresClient],
  options: Partial<StoreSuiteOptions<Made>>,
): void {
  if (server === undefined) return;
  const table = `${server.schema}.${name}`;
  const [store, store2] = clients(server).map((client) => postgresStore(client, { table }));
  const cases = storeSuite<Made>({
    make: () => ({ store, store2, table }) as Made,
    evict: (_, key) => server.admin.query(`DELETE FROM ${table} WHERE key = $1`, [key]),
    raw: async (_, key) => (await server.admin.query(`SELECT * FROM ${table} WHERE key = $1`, [key])).rows,
    ...options,
  });
  for (const { name: sentence, skip, run } of cases) it.skipIf(skip)(sentence, run);
}

type Isolation = 'repeatable read' | 'serializable';

function pgClient(url: string, isolation?: Isolation): PostgresClient {
  const options = isolation && `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}`;
  const pool = poolOf(url, { application_name: server?.schema, options });
  closing.push(() => pool.end());
  return { pg: pool };
}

function postgresJsClient(url: string, isolation?: Isolation): PostgresClient {
  const connection = { application_name: server?.schema ?? '' };
  const sql = postgres(url, {
    max: 6,
    connection: isolation ? { ...connection, default_transaction_isolation: isolation } : connection,
  });
  closing.push(() => sql.end());
  return { postgresJs: sql };
}
