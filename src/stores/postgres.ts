export type { InboxOptions, InboxResult, TransactionInbox } from './inbox.js';
export type { KyselyClient } from './kysely.js';
export type { PgClient, PgListener, PostgresClient, PostgresJsClient } from './postgres/client.js';
export type {
  DrizzleClient,
  InboxClients,
  InboxTransaction,
  KnexClient,
  MikroOrmClient,
  PrismaClient,
  SequelizeClient,
  SequelizeTransaction,
  TypeormClient,
} from './postgres/inbox-clients.js';
export { type PostgresInbox, type PostgresInboxOptions, postgresInbox } from './postgres/postgres-inbox.js';
export { type PostgresStoreOptions, postgresStore } from './postgres/postgres-store.js';
export { postgresTableVersion } from './postgres/postgres-table-version.js';
export { postgresTables } from './postgres/postgres-tables.js';
export type { SqlTable, SqlTables, TableNames } from './tables.js';
