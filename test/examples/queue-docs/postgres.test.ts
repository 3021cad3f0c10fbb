import PgBoss from 'pg-boss';
import { graphileWorkerQueue } from 'service-webhooks/queue/graphile-worker';
import { pgBossQueue } from 'service-webhooks/queue/pg-boss';
import { afterAll, describe, it } from 'vitest';
import { poolOf, startPrivatePostgres } from '../../support/postgres.js';
import { LAST_OF_GRAPHILE_WORKER, LAST_OF_PG_BOSS } from './last-statement.js';
import { describePrograms } from './restarts.js';

const server = await startPrivatePostgres();

describe('the documented queue recipe while PostgreSQL stops and starts again', () => {
  // biome-ignore lint/suspicious/noSkippedTests: a group needs a test, also where its server is missing
  if (server === undefined) return it.skip('no test runs without PostgreSQL', () => {});
  const pool = poolOf(server.url);
  afterAll(async () => {
    await pool.end();
    await server.stop();
  });

  const boss = new PgBoss({ db: { executeSql: (text, values) => pool.query(text, values) } });
  const bossQueue = pgBossQueue({ boss, queue: 'webhooks' });
  describePrograms({
    section: 'pg-boss',
    variable: 'POSTGRES_URL',
    server,
    depth: async () => (await bossQueue.stats()).depth,
    last: LAST_OF_PG_BOSS,
  });

  const graphileQueue = graphileWorkerQueue({ pg: pool, task: 'webhooks' });
  const { table } = LAST_OF_GRAPHILE_WORKER;
  describePrograms({
    section: 'graphile-worker',
    variable: 'POSTGRES_URL',
    server,
    depth: async () => (await graphileQueue.stats()).depth,
    last: LAST_OF_GRAPHILE_WORKER,
    reclaim: () => pool.query(`UPDATE ${table} SET locked_at = NULL, locked_by = NULL`),
  });
});
