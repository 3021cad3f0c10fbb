import { executeOnKysely, type KyselyClient } from '../kysely.js';
import type { ClientForm } from '../named-client.js';
import type { DrizzleClient, SequelizeClient, SequelizeTransaction, TypeormClient } from '../orm-clients.js';
import { databaseOf, MYSQL_FORMS, type Mysql2Connection, type MysqlClient, queryOnMysql2 } from './client.js';
import { type Query, replyOf } from './query.js';

/** A connection of a pool of `mysql2` or `mysql2/promise` that has begun a transaction. */
export type Mysql2Transaction = Mysql2TransactionConnection | { promise(): Mysql2TransactionConnection };

/** A connection of a pool of `mysql2/promise`. */
export interface Mysql2TransactionConnection extends Pick<Mysql2Connection, 'query'> {
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** A `Knex` or a `Knex.Transaction` of `knex`. */
export interface KnexClient {
  raw(sql: string): PromiseLike<unknown>;
}

/** A `PrismaClient`, or the client that `$transaction` passes. */
export interface PrismaClient {
  $queryRawUnsafe(query: string): PromiseLike<unknown>;
  $executeRawUnsafe(query: string): PromiseLike<number>;
}

/** An `EntityManager` of `@mikro-orm/mysql`, or the `EntityManager` that `transactional` passes. */
export interface MikroOrmClient {
  execute(query: string, params: never[], method: 'run'): Promise<unknown>;
}

/** Each client of an inbox on MySQL, by the name of its library. */
export interface MysqlInboxClients {
  mysql2: MysqlClient['mysql2'];
  drizzle: DrizzleClient;
  kysely: KyselyClient;
  knex: KnexClient;
  prisma: PrismaClient;
  typeorm: TypeormClient;
  sequelize: SequelizeClient;
  mikroOrm: MikroOrmClient;
}

interface Transactions extends Omit<MysqlInboxClients, 'mysql2' | 'sequelize'> {
  mysql2: Mysql2Transaction;
  sequelize: SequelizeTransaction;
}

/** The transaction that `once` takes; in most libraries it has the form of their client. */
export type MysqlInboxTransaction<Name extends keyof MysqlInboxClients> = Transactions[Name];

interface Library<Client, Transaction> extends ClientForm {
  /** The methods of a transaction, where they differ from those of the client. */
  transactionMethods?: readonly string[];
  /** Runs statements in a transaction of the user, or without one where there is only the client. */
  query(client: Client, transaction?: Transaction): Query;
}

/** How each library runs a statement unchanged. */
export const LIBRARIES: {
  readonly [Name in keyof MysqlInboxClients]: Library<MysqlInboxClients[Name], MysqlInboxTransaction<Name>>;
} = {
  mysql2: {
    ...MYSQL_FORMS.mysql2,
    transactionMethods: ['query', 'commit', 'rollback'],
    query(mysql2, tx) {
      if (tx === undefined) return databaseOf('mysqlInbox', { mysql2 }).query;
      return queryOnMysql2('promise' in tx ? tx.promise() : tx);
    },
  },
  drizzle: {
    methods: ['execute'],
    example: 'db',
    query:
      (db, tx = db) =>
      async (statement) =>
        replyOf(firstOf(await tx.execute(statement))),
  },
  kysely: {
    methods: ['executeQuery'],
    example: 'db',
    query:
      (db, tx = db) =>
      async (statement) => {
        const { rows, numAffectedRows } = await executeOnKysely(tx, statement);
        return replyOf(numAffectedRows === undefined ? rows : { affectedRows: numAffectedRows });
      },
  },
  knex: {
    methods: ['raw'],
    example: 'knex',
    query:
      (knex, tx = knex) =>
      async (statement) =>
        replyOf(firstOf(await tx.raw(statement))),
  },
  prisma: {
    methods: ['$queryRawUnsafe', '$executeRawUnsafe'],
    example: 'prisma',
    query:
      (prisma, tx = prisma) =>
      async (statement) => {
        if (statement.startsWith('SELECT')) return replyOf(await tx.$queryRawUnsafe(statement));
        return replyOf({ affectedRows: await tx.$executeRawUnsafe(statement) });
      },
  },
  typeorm: {
    methods: ['query'],
    example: 'dataSource',
    query:
      (dataSource, manager = dataSource) =>
      async (statement) =>
        replyOf(await manager.query(statement)),
  },
  sequelize: {
    methods: ['query'],
    transactionMethods: ['commit', 'rollback'],
    example: 'sequelize',
    query: (sequelize, transaction) => async (statement) => {
      // After a deadlock Sequelize itself ends the transaction and refuses statements. Settings of the connection are
      // restored all the same, because it returns to the pool.
      const options = {
        transaction: transaction as never,
        raw: true,
        completesTransaction: statement.startsWith('SET '),
      };
      return replyOf(firstOf(await sequelize.query(statement, options as { raw: true })));
    },
  },
  mikroOrm: {
    methods: ['execute'],
    example: 'orm.em',
    query:
      (em, tx = em) =>
      async (statement) =>
        replyOf(rowsOrCount(await tx.execute(statement, [], 'run'))),
  },
};

/** Returns the result from the pair of a result and its columns. */
function firstOf(pair: unknown): unknown {
  return (pair as unknown[])[0];
}

/** Returns what MikroORM found: version 6 returns rows as they are, and version 7 next to counts. */
function rowsOrCount(reply: unknown): unknown {
  const { rows = [] } = Object(reply) as { rows?: unknown[] };
  return rows.length > 0 ? rows : reply;
}
