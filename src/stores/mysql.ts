export type { InboxOptions, InboxResult, TransactionInbox } from './inbox.js';
export type { KyselyClient, KyselyResult } from './kysely.js';
export type { Mysql2CallbackPool, Mysql2Connection, Mysql2Pool, Mysql2Query, MysqlClient } from './mysql/client.js';
export type {
  KnexClient,
  MikroOrmClient,
  Mysql2Transaction,
  Mysql2TransactionConnection,
  MysqlInboxClients,
  MysqlInboxTransaction,
  PrismaClient,
} from './mysql/inbox-clients.js';
export { type MysqlInbox, type MysqlInboxOptions, mysqlInbox } from './mysql/mysql-inbox.js';
export { type MysqlStoreOptions, mysqlStore } from './mysql/mysql-store.js';
export { mysqlTableVersion } from './mysql/mysql-table-version.js';
export { mysqlTables } from './mysql/mysql-tables.js';
export type { DrizzleClient, SequelizeClient, SequelizeTransaction, TypeormClient } from './orm-clients.js';
export type { SqlTable, SqlTables, TableNames } from './tables.js';
