import { type SqlTables, type TableNames, tablesNamed } from '../tables.js';
import { checkTable, MAX_JOBS_NAME } from './database.js';
import { inboxSchema, jobsSchema, SCHEMA_VERSION, storeSchema } from './schema.js';

/**
 * Returns the SQL of the tables of `sqliteStore`, its jobs and `sqliteInbox`, for a migration tool of yours: the same
 * statements that `init()` runs after it has set the journal to WAL. They create a table or bring an older one up to date, and may run
 * again. They are those of `d1Store` too. A name has letters, digits and `_`.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * const { tables } = sqliteTables({ table: 'webhook_deliveries' });
 * for (const sql of tables.flatMap(({ statements }) => statements)) db.exec(sql);
 */
export function sqliteTables(names: TableNames = {}): SqlTables {
  return tablesNamed('sqliteTables', names, {
    version: SCHEMA_VERSION,
    store: (name) => storeSchema(checkedTable(name)),
    inbox: (name) => inboxSchema(checkedTable(name)),
    jobs: (name) => jobsSchema(checkedTable(name, MAX_JOBS_NAME)),
  });
}

function checkedTable(name: string, maxLength?: number): string {
  checkTable(name, maxLength);
  return name;
}
