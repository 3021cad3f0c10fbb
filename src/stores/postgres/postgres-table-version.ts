import { type PostgresClient, queryOf } from './client.js';
import { MAX_JOBS_NAME, quotedTable } from './query.js';
import { schemaVersion } from './schema.js';

/**
 * Resolves to the version of a table of `postgresStore`, its jobs or `postgresInbox`, to compare with that of `postgresTables`: 0
 * where the table has none, and undefined where there is no such table. It changes nothing, and any role may ask.
 *
 * @param table `name` or `schema.name`.
 * @throws WebhookError (as a rejection) `invalid_option`; any other error is that of the client
 * @example
 * const version = await postgresTableVersion({ pg: pool }, 'webhook_deliveries');
 * if ((version ?? 0) < postgresTables().version) throw new Error('run the migrations first');
 */
export async function postgresTableVersion(client: PostgresClient, table: string): Promise<number | undefined> {
  return schemaVersion(queryOf('postgresTableVersion', client), quotedTable(table, MAX_JOBS_NAME));
}
