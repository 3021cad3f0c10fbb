import { clientName } from '../named-client.js';
import { checkTable, MAX_JOBS_NAME, SQLITE_FORMS, type SqliteClient, type SqliteDatabase } from './database.js';
import { schemaVersion } from './schema.js';

/**
 * Resolves to the version of a table of `sqliteStore`, its jobs or `sqliteInbox`, to compare with that of `sqliteTables`: 0 where the
 * table has none, and undefined where there is no such table. It changes nothing, and a handle that only reads is enough.
 *
 * @param table Letters, digits and `_`.
 * @throws WebhookError (as a rejection) `invalid_option`; any other error is that of the handle
 * @example
 * const version = await sqliteTableVersion({ betterSqlite3: db }, 'webhook_deliveries');
 * if ((version ?? 0) < sqliteTables().version) throw new Error('run the migrations first');
 */
export async function sqliteTableVersion(client: SqliteClient, table: string): Promise<number | undefined> {
  clientName('sqliteTableVersion', client, SQLITE_FORMS);
  checkTable(table, MAX_JOBS_NAME);
  const handle = (client.betterSqlite3 ?? client.nodeSqlite) as SqliteDatabase;
  return schemaVersion(table, (sql) => handle.prepare(sql).get());
}
