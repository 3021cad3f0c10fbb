export type { InboxOptions, InboxResult, TransactionInbox } from './inbox.js';
export type { KyselyClient, KyselyResult } from './kysely.js';
export type { DrizzleClient, SequelizeClient, SequelizeTransaction, TypeormClient } from './orm-clients.js';
export type { PgClient, PgListener, PostgresClient, PostgresJsClient } from './postgres/client.js';
export type {
  InboxClients,
  InboxTransaction,
  KnexClient,
  MikroOrmClient,
  PrismaClient,
} from './postgres/inbox-clients.js';
export { type PostgresInbox, type PostgresInboxOptions, postgresInbox } from './postgres/postgres-inbox.js';
export { type PostgresStoreOptions, postgresStore } from './postgres/postgres-store.js';
export { postgresTableVersion } from './postgres/postgres-table-version.js';
export { postgresTables } from './postgres/postgres-tables.js';
export type { SqlTable, SqlTables, TableNames } from './tables.js';
