import { databaseOf, type MysqlClient } from './client.js';
import { MAX_JOBS_NAME, quotedTable } from './query.js';
import { schemaVersion } from './schema.js';

/**
 * Resolves to the version of a table of `mysqlStore`, its jobs or `mysqlInbox`, to compare with that of `mysqlTables`: 0
 * where the table has none, and undefined where there is no such table. It changes nothing, and any user of the table may
 * ask.
 *
 * @param table `name` or `database.name`.
 * @throws WebhookError (as a rejection) `invalid_option`; any other error is that of the client
 * @example
 * const version = await mysqlTableVersion({ mysql2: pool }, 'webhook_deliveries');
 * if ((version ?? 0) < mysqlTables().version) throw new Error('run the migrations first');
 */
export async function mysqlTableVersion(client: MysqlClient, table: string): Promise<number | undefined> {
  return schemaVersion(databaseOf('mysqlTableVersion', client).query, quotedTable(table, MAX_JOBS_NAME));
}
