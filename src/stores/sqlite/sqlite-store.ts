import { checkFunction, checkKnownOptions } from '../../option-checks.js';
import type { DedupeStore } from '../contract.js';
import { clientName } from '../named-client.js';
import {
  jobsTable,
  MAX_JOBS_NAME,
  openDatabase,
  SQLITE_FORMS,
  type SqliteClient,
  type SqliteDatabase,
} from './database.js';
import { jobsInSqlite } from './job-records.js';
import { type SqliteConnection, type Statement, sqliteRows } from './rows.js';
import { jobsSchema, storeSchema } from './schema.js';

/** Options of {@link sqliteStore}. */
export interface SqliteStoreOptions {
  /** The table. Default: `'webhook_deliveries'`. Letters, digits and `_`. */
  table?: string | undefined;
  /** The clock, in milliseconds since the epoch. Default: SQLite's, which is the clock of the host. */
  now?: (() => number) | undefined;
}

/**
 * Returns a store that remembers events in a SQLite database, version 3.35 or later, for all processes of one host. The
 * store uses an open handle and never closes it. `init()` creates the table and switches the journal to WAL, which does
 * not work on a network file system.
 *
 * A transaction that stays open over an `await` needs a handle of its own: on the handle of the store, a claim would be
 * part of the transaction and would be rolled back with it.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * const store = sqliteStore({ betterSqlite3: new Database('webhooks.db') });
 * createReceiver({ secret, on, dedupe: { store, name: 'clips' } });
 */
export function sqliteStore(client: SqliteClient, options: SqliteStoreOptions = {}): DedupeStore {
  checkKnownOptions('sqliteStore', options, ['table', 'now']);
  const { table = 'webhook_deliveries', now } = options;
  checkFunction('now', now);
  clientName('sqliteStore', client, SQLITE_FORMS);
  const handle = (client.betterSqlite3 ?? client.nodeSqlite) as SqliteDatabase;
  const { get, all, run, write, change, purgeInBatches, init } = openDatabase(handle, table);
  const first = ([sql, ...values]: Statement) => get(sql, ...values);
  const connection: SqliteConnection = {
    async changeAndFind([sql, ...values], find) {
      const changes = await change(sql, ...values);
      if (changes > 0) return { changes, row: first(find) };
      // Again, so that what is found is the reason why nothing was changed.
      return write(() => ({ changes: run(sql, ...values), row: first(find) }));
    },
    read: async (statement) => first(statement),
    readAll: async ([sql, ...values]) => all(sql, ...values),
    change: ([sql, ...values]) => change(sql, ...values),
    purge: purgeInBatches,
  };
  const jobs = jobsTable(table);
  return {
    scope: 'host',
    init: () => init(storeSchema(table)),
    ...sqliteRows(connection, table, now),
    jobs: {
      init: () => openDatabase(handle, jobs, MAX_JOBS_NAME).init(jobsSchema(jobs)),
      ...jobsInSqlite(connection, jobs, now),
    },
  };
}
