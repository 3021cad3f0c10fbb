import { type KyselyClient, runOnKysely } from '../kysely.js';
import type { ClientForm } from '../named-client.js';
import type { DrizzleClient, SequelizeClient, SequelizeTransaction, TypeormClient } from '../orm-clients.js';
import { type PgClient, POSTGRES_FORMS, type PostgresJsClient, queryOnPg, queryOnPostgresJs } from './client.js';
import { type Query, valuesOf } from './query.js';

/** A `Knex` or a `Knex.Transaction` of `knex`. */
export interface KnexClient {
  raw(sql: string): PromiseLike<{ rows: unknown[] }>;
}

/** A `PrismaClient`, or the client that `$transaction` passes. */
export interface PrismaClient {
  $queryRawUnsafe(query: string): PromiseLike<unknown>;
}

/** An `EntityManager` of `@mikro-orm/postgresql`, or the `EntityManager` that `transactional` passes. */
export interface MikroOrmClient {
  execute(query: string): Promise<unknown>;
}

/** Each client of an inbox, by the name of its library. */
export interface InboxClients {
  pg: PgClient;
  postgresJs: PostgresJsClient;
  drizzle: DrizzleClient;
  kysely: KyselyClient;
  knex: KnexClient;
  prisma: PrismaClient;
  typeorm: TypeormClient;
  sequelize: SequelizeClient;
  mikroOrm: MikroOrmClient;
}

/** The transaction that `once` takes; in most libraries it has the form of their client. */
export type InboxTransaction<Name extends keyof InboxClients> = Name extends 'sequelize'
  ? SequelizeTransaction
  : InboxClients[Name];

interface Library<Client, Transaction = Client> extends ClientForm {
  /** The methods of a transaction, where they differ from those of the client. */
  transactionMethods?: readonly string[];
  /** Runs statements in a transaction of the user, or without one where there is only the client. */
  query(client: Client, transaction?: Transaction): Query;
}

/** How each library runs a statement unchanged. */
export const LIBRARIES: { readonly [Name in keyof InboxClients]: Library<InboxClients[Name], InboxTransaction<Name>> } =
  {
    pg: { ...POSTGRES_FORMS.pg, query: (pool, client = pool) => queryOnPg(client) },
    postgresJs: { ...POSTGRES_FORMS.postgresJs, query: (sql, tx = sql) => queryOnPostgresJs(tx) },
    drizzle: {
      methods: ['execute'],
      example: 'db',
      query:
        (db, tx = db) =>
        async (statement) =>
          rowsOf(await tx.execute(statement)),
    },
    kysely: {
      methods: ['executeQuery'],
      example: 'db',
      query:
        (db, tx = db) =>
        async (statement) =>
          valuesOf(await runOnKysely(tx, statement)),
    },
    knex: {
      methods: ['raw'],
      example: 'knex',
      query:
        (knex, tx = knex) =>
        async (statement) =>
          rowsOf(await tx.raw(statement)),
    },
    prisma: {
      methods: ['$queryRawUnsafe'],
      example: 'prisma',
      query:
        (prisma, tx = prisma) =>
        async (statement) =>
          rowsOf(await tx.$queryRawUnsafe(statement)),
    },
    typeorm: {
      methods: ['query'],
      example: 'dataSource',
      query:
        (dataSource, manager = dataSource) =>
        async (statement) =>
          rowsOf(await manager.query(statement)),
    },
    sequelize: {
      methods: ['query'],
      transactionMethods: ['commit', 'rollback'],
      example: 'sequelize',
      query: (sequelize, transaction) => async (statement) => {
        const reply = await sequelize.query(statement, { transaction: transaction as never, raw: true });
        return rowsOf((reply as unknown[])[0]);
      },
    },
    mikroOrm: {
      methods: ['execute'],
      example: 'orm.em',
      query:
        (em, tx = em) =>
        async (statement) =>
          rowsOf(await tx.execute(statement)),
    },
  };

/** Returns the rows of a reply: a list, or the result of a driver, which has them in `rows`. */
function rowsOf(reply: unknown): (string | null)[][] {
  const rows = Array.isArray(reply) ? reply : (reply as { rows?: unknown[] } | null | undefined)?.rows;
  return valuesOf(rows ?? []);
}
