import { checkKnownOptions } from '../option-checks.js';
import type { DedupeStore } from './contract.js';
import { clientName } from './named-client.js';
import { checkTable, jobsTable } from './sqlite/database.js';
import { jobsInSqlite } from './sqlite/job-records.js';
import { type SqliteConnection, type Statement, sqliteRows } from './sqlite/rows.js';
import { jobsSchema, storeSchema } from './sqlite/schema.js';

/** A D1 binding, under the name `d1`. */
export interface D1Client {
  d1: D1Database;
}

/** The part of a `D1Database` that is used. */
export interface D1Database {
  prepare(sql: string): D1Statement;
  batch(statements: D1Statement[]): Promise<D1Reply[]>;
  /** Never called. A session, which may read from a replica that lags behind, does not have it. */
  exec(sql: string): Promise<unknown>;
}

/** A `D1PreparedStatement`. */
export interface D1Statement {
  bind(...values: unknown[]): D1Statement;
}

/** A `D1Result`. */
export interface D1Reply {
  results: unknown[];
  meta: { changes: number };
}

/** Options of {@link d1Store}. */
export interface D1StoreOptions {
  /** The table. Default: `'webhook_deliveries'`. Letters, digits and `_`. */
  table?: string | undefined;
}

/**
 * Returns a store that remembers events in Cloudflare D1, for all Workers on it. The store uses the clock of the
 * database. Each operation is one round trip and one transaction on the primary: D1 asks a replica only within a
 * session. `init()` creates the table.
 *
 * Call `purgeExpired` from a cron trigger: D1 does not remove expired rows itself.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * createReceiver({ secret, on, dedupe: { store: d1Store({ d1: env.DB }), name: 'clips' } });
 */
export function d1Store(client: D1Client, options: D1StoreOptions = {}): DedupeStore {
  clientName('d1Store', client, {
    d1: { methods: ['prepare', 'batch', 'exec'], example: 'env.DB, the database and not a session of it' },
  });
  checkKnownOptions('d1Store', options, ['table']);
  const { d1 } = client;
  const { table = 'webhook_deliveries' } = options;
  checkTable(table);
  const batch = (statements: Statement[]) =>
    d1.batch(statements.map(([sql, ...values]) => d1.prepare(sql).bind(...values)));
  const all = async (...statements: Statement[]) => (await batch(statements)).flatMap(({ results }) => results);
  const first = async (...statements: Statement[]) => (await all(...statements))[0];
  const change = async (statement: Statement) =>
    (await batch([statement])).reduce((total, { meta }) => total + meta.changes, 0);
  const connection: SqliteConnection = {
    write: first,
    read: first,
    readAll: all,
    change,
    purge: (sql, time, limit) => change([sql, time(), limit]),
  };

  const create = async (schema: string[]) => void (await batch(schema.map((sql) => [sql])));
  const jobs = jobsTable(table);

  return {
    scope: 'shared',
    init: () => create(storeSchema(table)),
    ...sqliteRows(connection, table),
    jobs: { init: () => create(jobsSchema(jobs)), ...jobsInSqlite(connection, jobs) },
  };
}
