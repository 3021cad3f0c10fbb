import { checkFunction } from '../check.js';
import type { DedupeStore } from './contract.js';
import { openDatabase, type SqliteClient } from './sqlite-database.js';
import { type SqliteConnection, type Statement, schema, sqliteRows } from './sqlite-rows.js';

export type { SqliteClient, SqliteDatabase } from './sqlite-database.js';
export { type SqliteInbox, type SqliteInboxOptions, sqliteInbox } from './sqlite-inbox.js';

/** Options of {@link sqliteStore}. */
export interface SqliteStoreOptions {
  /** Its table; `'webhook_deliveries'`. Letters, digits and `_`. */
  table?: string | undefined;
  /** Its clock, in milliseconds since the epoch; by default SQLite's, which is the host's. */
  now?: (() => number) | undefined;
}

/**
 * Remembers events in a SQLite database (3.35 or newer), for all processes of one host. It works on the handle it is
 * given, and opens and closes nothing. `init()` makes the table and sets the journal to WAL, which a network file
 * system does not carry.
 *
 * Transactions that stay open over an `await` need a handle of their own: on the same one a claim would be a part of
 * them, and be rolled back with them.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * const store = sqliteStore({ betterSqlite3: new Database('webhooks.db') });
 * createReceiver({ secret, on, dedupe: { store } });
 */
export function sqliteStore(client: SqliteClient, options: SqliteStoreOptions = {}): DedupeStore {
  const { now } = options;
  checkFunction('now', now);
  const { table, get, run, write, init } = openDatabase(client, options.table ?? 'webhook_deliveries');
  const first = ([sql, ...values]: Statement) => get(sql, ...values);
  const connection: SqliteConnection = {
    write(...statements) {
      return write(() => {
        for (const statement of statements) {
          const row = first(statement);
          if (row) return row;
        }
        return undefined;
      });
    },
    read: async (statement) => first(statement),
    change: ([sql, ...values]) => write(() => run(sql, ...values)),
  };
  return { scope: 'host', init: () => init(schema(table).join(';')), ...sqliteRows(connection, table, now) };
}
