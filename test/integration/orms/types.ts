// The types of the libraries fit those of an inbox: checked by `tsc -p test/integration/orms`.
import type { SqlEntityManager as MysqlEntityManager } from '@mikro-orm/mysql';
import type { SqlEntityManager } from '@mikro-orm/postgresql';
import type { drizzle } from 'drizzle-orm/better-sqlite3';
import type { MySql2Database } from 'drizzle-orm/mysql2';
import type { NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type { Knex } from 'knex';
import type { Kysely, Transaction as KyselyTransaction } from 'kysely';
import type mysql2 from 'mysql2';
import type mysql2Promise from 'mysql2/promise';
import type { Pool, PoolClient } from 'pg';
import type postgres from 'postgres';
import type { Sequelize, Transaction as SequelizeTransaction } from 'sequelize';
import type { DataSource, EntityManager } from 'typeorm';
import type { Delivery } from '../../../src/index.js';
import { mysqlInbox } from '../../../src/stores/mysql.js';
import { postgresInbox } from '../../../src/stores/postgres.js';
import { sqliteInbox } from '../../../src/stores/sqlite.js';
import type { PrismaClient } from './generated/client.js';
import type { PrismaClient as MysqlPrismaClient } from './mysql/generated/client.js';

declare const delivery: Delivery;
declare const pool: Pool;
declare const poolClient: PoolClient;
declare const sql: postgres.Sql;
declare const nodePg: NodePgDatabase;
declare const postgresJs: PostgresJsDatabase;
declare const kysely: Kysely<{ clips: { id: string } }>;
declare const kyselyTransaction: KyselyTransaction<{ clips: { id: string } }>;
declare const knex: Knex;
declare const prisma: PrismaClient;
declare const dataSource: DataSource;
declare const manager: EntityManager;
declare const sequelize: Sequelize;
declare const transaction: SequelizeTransaction;
declare const em: SqlEntityManager;
declare const drizzleSqlite: ReturnType<typeof drizzle>;
declare const mysqlPool: mysql2Promise.Pool;
declare const mysqlConnection: mysql2Promise.PoolConnection;
declare const callbackPool: mysql2.Pool;
declare const callbackConnection: mysql2.PoolConnection;
declare const mysql: MySql2Database;
declare const mysqlPrisma: MysqlPrismaClient;
declare const mysqlEm: MysqlEntityManager;

const options = { name: 'clips' };

export async function fits(): Promise<void> {
  await postgresInbox({ pg: pool }, options).once(poolClient, delivery, () => 1);
  await sql.begin((tx) => postgresInbox({ postgresJs: sql }, options).once(tx, delivery, () => 1));
  await nodePg.transaction((tx) => postgresInbox({ drizzle: nodePg }, options).once(tx, delivery, () => 1));
  await postgresJs.transaction((tx) => postgresInbox({ drizzle: postgresJs }, options).once(tx, delivery, () => 1));
  await postgresInbox({ kysely }, options).once(kyselyTransaction, delivery, () => 1);
  await knex.transaction((tx) => postgresInbox({ knex }, options).once(tx, delivery, () => 1));
  await prisma.$transaction((tx) => postgresInbox({ prisma }, options).once(tx, delivery, () => 1));
  await postgresInbox({ typeorm: dataSource }, options).once(manager, delivery, () => 1);
  await postgresInbox({ sequelize }, options).once(transaction, delivery, () => 1);
  await em.transactional((tx) => postgresInbox({ mikroOrm: em }, options).once(tx, delivery, () => 1));

  await mysqlInbox({ mysql2: mysqlPool }, options).once(mysqlConnection, delivery, () => 1);
  await mysqlInbox({ mysql2: callbackPool }, options).once(callbackConnection, delivery, () => 1);
  await mysql.transaction((tx) => mysqlInbox({ drizzle: mysql }, options).once(tx, delivery, () => 1));
  await mysqlInbox({ kysely }, options).once(kyselyTransaction, delivery, () => 1);
  await knex.transaction((tx) => mysqlInbox({ knex }, options).once(tx, delivery, () => 1));
  await mysqlPrisma.$transaction((tx) => mysqlInbox({ prisma: mysqlPrisma }, options).once(tx, delivery, () => 1));
  await mysqlInbox({ typeorm: dataSource }, options).once(manager, delivery, () => 1);
  await mysqlInbox({ sequelize }, options).once(transaction, delivery, () => 1);
  await mysqlEm.transactional((tx) => mysqlInbox({ mikroOrm: mysqlEm }, options).once(tx, delivery, () => 1));

  const { status } = sqliteInbox({ drizzle: drizzleSqlite }, options).once(delivery, () => 1);
  status satisfies 'done' | 'duplicate';
  await sqliteInbox({ kysely }, options).once(kyselyTransaction, delivery, async () => 1);
}

export function doesNotFit(): void {
  // @ts-expect-error a name is required
  postgresInbox({ pg: pool });
  // @ts-expect-error a client has a name
  postgresInbox(pool, options);
  // @ts-expect-error the transaction of another library
  void mysqlInbox({ mysql2: mysqlPool }, options).once(transaction, delivery, () => 1);
  // @ts-expect-error the transaction of another library
  void postgresInbox({ pg: pool }, options).once(transaction, delivery, () => 1);
}
