import { check } from '../check.js';
import type { DedupeStore } from './contract.js';
import { checkTable } from './sqlite-database.js';
import { type SqliteConnection, type Statement, schema, sqliteRows } from './sqlite-rows.js';

/** The binding of the database, named for what it is. */
export interface D1Client {
  d1: D1Database;
}

/** What is used of a `D1Database`, and what tells it from a session of it. */
export interface D1Database {
  prepare(sql: string): D1Statement;
  batch(statements: D1Statement[]): Promise<D1Reply[]>;
  /** Not called. A session has none, and may read from a replica, which lags behind. */
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
  /** Its table; `'webhook_deliveries'`. Letters, digits and `_`. */
  table?: string | undefined;
}

/**
 * Remembers events in Cloudflare D1, for all Workers on it. The database's clock counts; each operation is one round
 * trip and one transaction, on the primary: without a session D1 asks no replica. `init()` makes the table.
 *
 * Call `purgeExpired` now and then, from a cron trigger: nothing else removes what is expired.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * createReceiver({ secret, on, dedupe: { store: d1Store({ d1: env.DB }) } });
 */
export function d1Store(client: D1Client, options: D1StoreOptions = {}): DedupeStore {
  const { d1 } = client ?? {};
  check(isDatabase(d1), 'client must be { d1: env.DB }, the database and no session of it');
  const { table = 'webhook_deliveries' } = options;
  checkTable(table);
  const batch = (statements: Statement[]) =>
    d1.batch(statements.map(([sql, ...values]) => d1.prepare(sql).bind(...values)));
  const first = async (...statements: Statement[]) => (await batch(statements)).flatMap(({ results }) => results)[0];
  const connection: SqliteConnection = {
    write: first,
    read: first,
    change: async (statement) => (await batch([statement])).reduce((total, { meta }) => total + meta.changes, 0),
  };

  return {
    scope: 'shared',

    async init() {
      await batch(schema(table).map((sql) => [sql]));
    },

    ...sqliteRows(connection, table),
  };
}

function isDatabase(d1: D1Database | undefined): d1 is D1Database {
  return [d1?.prepare, d1?.batch, d1?.exec].every((method) => typeof method === 'function');
}
