export type { InboxOptions, InboxResult, TransactionInbox } from './inbox.js';
export type { KyselyClient, KyselyResult } from './kysely.js';
export type { SqliteClient, SqliteDatabase } from './sqlite/database.js';
export {
  type SqliteInbox,
  type SqliteInboxClient,
  type SqliteInboxOptions,
  sqliteInbox,
} from './sqlite/sqlite-inbox.js';
export { type SqliteStoreOptions, sqliteStore } from './sqlite/sqlite-store.js';
export { sqliteTableVersion } from './sqlite/sqlite-table-version.js';
export { sqliteTables } from './sqlite/sqlite-tables.js';
export type { SqlTable, SqlTables, TableNames } from './tables.js';
