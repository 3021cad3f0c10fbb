import { type SqlTables, type TableNames, tablesNamed } from '../tables.js';
import { inboxSchema } from './inbox-schema.js';
import { MAX_JOBS_NAME, quotedTable } from './query.js';
import { jobsSchema, SCHEMA_VERSION, storeSchema } from './schema.js';

/**
 * Returns the SQL of the tables of `mysqlStore`, its jobs and `mysqlInbox`, for a migration tool of yours: the same
 * statements that `init()` runs. They create a table or bring an older one up to date, and may run again. A name is `name` or
 * `database.name`.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * const { tables } = mysqlTables({ table: 'webhook_deliveries' });
 * for (const sql of tables.flatMap(({ statements }) => statements)) await pool.query(sql);
 */
export function mysqlTables(names: TableNames = {}): SqlTables {
  return tablesNamed('mysqlTables', names, {
    version: SCHEMA_VERSION,
    store: (name) => storeSchema(quotedTable(name)),
    inbox: (name) => inboxSchema(quotedTable(name)),
    jobs: (name) => jobsSchema(quotedTable(name, MAX_JOBS_NAME)),
  });
}
