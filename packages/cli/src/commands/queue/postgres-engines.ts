import { check } from 'service-webhooks/option-checks';
import type { DeadLetters } from 'service-webhooks/queue';
import { graphileWorkerQueue } from 'service-webhooks/queue/graphile-worker';
import { type PgBossClient, pgBossQueue } from 'service-webhooks/queue/pg-boss';
import { Failure, reasonOf } from '../../failure.js';
import { needed } from '../../installed.js';
import { POSTGRES_URL } from '../../server-url.js';
import { CALL_TIMEOUT_MS, CONNECT_TIMEOUT_MS, existingQueue, type QueueEngine } from './queue-engine.js';

interface Boss extends PgBossClient {
  start(): Promise<unknown>;
  stop(options: object): Promise<unknown>;
  on(event: 'error', listener: () => void): unknown;
}

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
    const { rows } = await boss.getDb().executeSql(sql, []);
    return {
      names: (rows as { name: string }[]).map(({ name }) => name),
      queueNamed: (queue) => pgBossQueue({ boss, queue, schema }),
      close: () => boss.stop({ graceful: false, wait: true }),
    };
  },
});

interface Pool {
  query(text: string, values?: never): Promise<{ rows: unknown[] }>;
  on(event: 'error', listener: () => void): unknown;
  end(): Promise<void>;
}

export const graphileWorkerEngine = postgresEngine({
  name: 'graphile-worker',
  says: 'the URL of the PostgreSQL of graphile-worker, whose task is the queue',
  usualSchema: 'graphile_worker',

  async connect(connection, schema) {
    const { Pool } = needed<{ Pool: new (options: object) => Pool }>('graphile-worker', 'pg');
    const pg = new Pool(connection);
    pg.on('error', () => {});
    const sql = `SELECT identifier FROM ${schema}._private_tasks ORDER BY identifier`;
    const { rows } = await pg.query(sql).catch((error) => {
      throw error?.code === '42P01' ? noTables('graphile-worker', schema) : error;
    });
    return {
      names: (rows as { identifier: string }[]).map(({ identifier }) => identifier),
      queueNamed: (task) => graphileWorkerQueue({ pg, task, schema }),
      close: () => pg.end(),
    };
  },
});

/** A library that keeps its queues in a schema of PostgreSQL. */
interface PostgresLibrary {
  name: string;
  says: string;
  usualSchema: string;
  /** Connects with these options of node-postgres. Resolves to the queues that the schema has. */
  connect(connection: object, schema: string): Promise<Connected>;
}

interface Connected {
  names: readonly string[];
  queueNamed(name: string): DeadLetters;
  close(): Promise<unknown>;
}

function postgresEngine({ name, says, usualSchema, connect }: PostgresLibrary): QueueEngine {
  return {
    ...{ name, says, url: POSTGRES_URL },
    async open({ address, queue, schema = usualSchema }) {
      // Before the queue checks it: the queues are looked up first, by SQL with this name in it.
      const isName = /^[a-z_][a-z0-9_]{0,49}$/.test(schema);
      check(isName, 'schema must be a name of a-z, 0-9 and _, at most 50 characters');
      const timeouts = { connectionTimeoutMillis: CONNECT_TIMEOUT_MS, query_timeout: CALL_TIMEOUT_MS };
      const { names, queueNamed, close } = await connect({ connectionString: address, max: 2, ...timeouts }, schema);
      return { queue: queueNamed(existingQueue(queue, names, `${name} in schema ${schema}`)), close };
    },
  };
}

function noTables(library: string, schema: string): Failure {
  return new Failure('usage', `the database has no tables of ${library} in schema ${schema}: name it with --schema.`);
}
