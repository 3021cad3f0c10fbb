import { check } from 'service-webhooks/option-checks';
import { jobReader, type PayloadOptions } from 'service-webhooks/queue';
import { graphileWorkerQueue } from 'service-webhooks/queue/graphile-worker';
import { type PgBossClient, pgBossQueue } from 'service-webhooks/queue/pg-boss';
import { Failure, reasonOf } from '../failure.js';
import { needed } from '../installed.js';
import { POSTGRES_URL } from '../server-url.js';
import { type OtherState, type StoredJob, storedJob } from './listed-letter.js';
import {
  CALL_TIMEOUT_MS,
  CONNECT_TIMEOUT_MS,
  existingQueue,
  type OpenedQueue,
  type OperatorsQueue,
  type QueueEngine,
} from './queue-engine.js';

interface Boss extends PgBossClient {
  start(): Promise<unknown>;
  stop(options: object): Promise<unknown>;
  on(event: 'error', listener: () => void): unknown;
}

/** A worker of pgBossProcessor holds the job that it runs in the state 'retry', until a time and as its owner. */
const HELD = "(state = 'retry' AND output->>'owner' IS NOT NULL AND start_after > now())";
const PG_BOSS_STATES = {
  waiting: `state < 'active' AND NOT ${HELD}`,
  running: `(state = 'active' OR ${HELD})`,
  done: "state = 'completed'",
};

export const pgBossEngine = postgresEngine({
  name: 'pg-boss',
  says: 'the URL of the PostgreSQL of pg-boss',
  usualSchema: 'pgboss',

  async connect(connection, schema) {
    const PgBoss = needed<new (options: object) => Boss>('pg-boss');
    // Its tables stay as they are, and its jobs are left to the app.
    const boss = new PgBoss({ ...connection, schema, migrate: false, supervise: false, schedule: false });
    boss.on('error', () => {});
    await boss.start().catch((error) => {
      const reason = reasonOf(error);
      if (/not installed/.test(reason)) throw noTables('pg-boss', schema);
      if (/requires migrations/.test(reason))
        throw new Failure('usage', 'the tables are of another version of pg-boss than this project has: use the same.');
      throw error;
    });
    const sql = `SELECT name FROM ${schema}.queue WHERE dead_letter = name || '_dead' ORDER BY name`;
    const query = async (text: string, values: unknown[]) => (await boss.getDb().executeSql(text, values)).rows;
    const rows = await query(sql, []);
    return {
      names: (rows as { name: string }[]).map(({ name }) => name),
      queueNamed: (queue, bodies) => pgBossQueue({ boss, queue, schema, ...bodies }),
      query,
      jobs: (state) => `
SELECT id::text, data AS job, created_on, CASE WHEN singleton_key ~ '^[0-9]{1,6}$' THEN singleton_key::int END AS attempts,
  output->>'message' AS reason
FROM ${schema}.job WHERE name = $1 AND ${PG_BOSS_STATES[state]} ORDER BY created_on, id LIMIT $2 OFFSET $3`,
      close: () => boss.stop({ graceful: false, wait: true }),
    };
  },
});

interface Pool {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
  on(event: 'error', listener: () => void): unknown;
  end(): Promise<void>;
}

const GRAPHILE_STATES = {
  waiting: 'j.locked_at IS NULL AND j.attempts < j.max_attempts',
  running: 'j.locked_at IS NOT NULL',
  done: 'false',
};

export const graphileWorkerEngine = postgresEngine({
  name: 'graphile-worker',
  unlisted: { done: 'graphile-worker deletes a job when it is done' },
  says: 'the URL of the PostgreSQL of graphile-worker, whose task is the queue',
  usualSchema: 'graphile_worker',

  async connect(connection, schema) {
    const { Pool } = needed<{ Pool: new (options: object) => Pool }>('graphile-worker', 'pg');
    const pg = new Pool(connection);
    pg.on('error', () => {});
    const sql = `SELECT identifier FROM ${schema}._private_tasks ORDER BY identifier`;
    const query = async (text: string, values: unknown[]) => (await pg.query(text, values)).rows;
    const rows = await query(sql, []).catch((error) => {
      throw error?.code === '42P01' ? noTables('graphile-worker', schema) : error;
    });
    return {
      names: (rows as { identifier: string }[]).map(({ identifier }) => identifier),
      queueNamed: (task, bodies) => graphileWorkerQueue({ pg, task, schema, ...bodies }),
      query,
      jobs: (state) => `
SELECT j.id::text, j.payload AS job, j.created_at AS created_on, j.attempts, j.last_error AS reason
FROM ${schema}._private_jobs j JOIN ${schema}._private_tasks t ON t.id = j.task_id
WHERE t.identifier = $1 AND ${GRAPHILE_STATES[state]} ORDER BY j.created_at, j.id LIMIT $2 OFFSET $3`,
      close: () => pg.end(),
    };
  },
});

/** A library that keeps its queues in a schema of PostgreSQL. */
interface PostgresLibrary extends Pick<QueueEngine, 'name' | 'says' | 'unlisted'> {
  usualSchema: string;
  /** Connects with these options of node-postgres. Resolves to the queues that the schema has. */
  connect(connection: object, schema: string): Promise<Connected>;
}

interface Connected {
  names: readonly string[];
  queueNamed(name: string, bodies: PayloadOptions): OperatorsQueue;
  query(text: string, values: unknown[]): Promise<unknown[]>;
  /** Returns the statement that lists jobs. It takes the name of the queue, a limit and an offset. */
  jobs(state: OtherState): string;
  close(): Promise<unknown>;
}

interface JobRow {
  id: string;
  job: unknown;
  created_on: Date;
  attempts: number;
  reason: string | null;
}

function postgresEngine({ usualSchema, connect, ...engine }: PostgresLibrary): QueueEngine {
  return {
    ...engine,
    url: POSTGRES_URL,
    async open({ address, queue, schema = usualSchema, bodies }) {
      // Before the queue checks it: the queues are looked up first, by SQL with this name in it.
      const isName = /^[a-z_][a-z0-9_]{0,49}$/.test(schema);
      check(isName, 'schema must be a name of a-z, 0-9 and _, at most 50 characters');
      const timeouts = { connectionTimeoutMillis: CONNECT_TIMEOUT_MS, query_timeout: CALL_TIMEOUT_MS };
      const connected = await connect({ connectionString: address, max: 2, ...timeouts }, schema);
      const { names, queueNamed, query, jobs, close } = connected;
      const name = existingQueue(queue, names, `${engine.name} in schema ${schema}`);
      const read = jobReader(bodies);
      const jobsIn: OpenedQueue['jobs'] = (state) => [
        async ({ limit, offset }) => {
          const rows = (await query(jobs(state), [name, limit, offset])) as JobRow[];
          const found: StoredJob[] = [];
          for (const { id, created_on, ...row } of rows)
            found.push(await storedJob(read, id, { state, ...row, queuedAt: created_on.getTime() }));
          return found;
        },
      ];
      return { queue: queueNamed(name, bodies), jobs: jobsIn, close };
    },
  };
}

function noTables(library: string, schema: string): Failure {
  return new Failure('usage', `the database has no tables of ${library} in schema ${schema}: name it with --schema.`);
}
