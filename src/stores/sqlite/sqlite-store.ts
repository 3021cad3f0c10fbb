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
  const { get, all, write, change, changeOne, purgeInBatches, init } = openDatabase(handle, table);
  const first = ([sql, ...values]: Statement) => get(sql, ...values);
  const connection: SqliteConnection = {
    async write(statement, ...others) {
      const row = await changeOne(...statement);
      if (row || others.length === 0) return row;
      // Again, together with the statement that finds out why nothing was changed.
      return write(() => {
        for (const each of [statement, ...others]) {
          const found = first(each);
          if (found) return found;
        }
        return undefined;
      });
    },
    read: async (statement) => first(statement),
    readAll: async ([sql, ...values]) => all(sql, ...values),
    change: (statement) => change(...statement),
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
