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
export type { DrizzleClient, SequelizeClient, SequelizeTransaction, TypeormClient } from './orm-clients.js';
