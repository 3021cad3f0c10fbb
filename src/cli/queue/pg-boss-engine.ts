import { type PgBossClient, pgBossQueue } from '../../queue/pg-boss/pg-boss-queue.js';
import { checkPostgresName } from '../../queue/postgres.js';
import { Failure } from '../failure.js';
import { needed } from '../installed.js';
import { reasonOf } from '../reason.js';
import { POSTGRES_URL } from '../server-url.js';
import { CALL_TIMEOUT_MS, CONNECT_TIMEOUT_MS, existingQueue, type QueueEngine } from './queue-engine.js';

interface Boss extends PgBossClient {
  start(): Promise<unknown>;
  stop(options: object): Promise<unknown>;
  on(event: 'error', listener: () => void): unknown;
}

export const pgBossEngine: QueueEngine = {
  name: 'pg-boss',
  says: 'the URL of the PostgreSQL of pg-boss',
  url: POSTGRES_URL,

  async open({ address, queue, schema = 'pgboss' }) {
    checkPostgresName('schema', schema);
    const PgBoss = needed<new (options: object) => Boss>('pg-boss');
    const boss = new PgBoss({
      ...{ connectionString: address, schema, max: 2 },
      ...{ connectionTimeoutMillis: CONNECT_TIMEOUT_MS, query_timeout: CALL_TIMEOUT_MS },
      // Its tables stay as they are, and its jobs are left to the app.
      ...{ migrate: false, supervise: false, schedule: false },
    });
    boss.on('error', () => {});
    await boss.start().catch((error) => {
      throw ofTables(error, schema);
    });
    const sql = `SELECT name FROM ${schema}.queue WHERE dead_letter = name || '_dead' ORDER BY name`;
    const { rows } = await boss.getDb().executeSql(sql, []);
    const names = (rows as { name: string }[]).map(({ name }) => name);
    const name = existingQueue(queue, names, `pg-boss in schema ${schema}`);
    return {
      queue: pgBossQueue({ boss, queue: name, schema }),
      close: () => boss.stop({ graceful: false, wait: true }),
    };
  },
};

/** What pg-boss says of its tables as what to do; anything else is about the connection. */
function ofTables(error: unknown, schema: string): unknown {
  const reason = reasonOf(error);
  if (/not installed/.test(reason))
    return new Failure('usage', `the database has no tables of pg-boss in schema ${schema}: name it with --schema.`);
  if (/requires migrations/.test(reason))
    return new Failure('usage', 'the tables are of another version of pg-boss than this project has: use the same.');
  return error;
}
