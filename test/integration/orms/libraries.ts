import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { framework } from '../framework.js';
import { betterSqlite3 } from '../installed.js';

/** A library whose transactions an inbox takes, connected to a database that has a table `clips (id text)`. */
export interface Connected {
  /** As `postgresInbox` or `mysqlInbox` takes it. */
  client: Record<string, unknown>;
  /** Runs work in a transaction of the library, which rolls back if the work throws. */
  transaction<T>(work: (tx: never) => Promise<T>): Promise<T>;
  /** Inserts a clip by the means of the library. */
  insert(tx: never, id: string): Promise<unknown>;
  close(): Promise<unknown>;
}

type Connect = (url: string, schema: string) => Promise<Connected>;

// The libraries stand apart, so their types are not there when this repository is checked: see types.ts.
// biome-ignore lint/suspicious/noExplicitAny: see above
export type Any = any;

export const load = (name: string): Any => framework<Any>(name, 'orms');
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export const isInstalled = load('pg') !== undefined;
export const hasSqlite = isInstalled && betterSqlite3 !== undefined;

const pgPool = (url: string) => new (load('pg').Pool)({ connectionString: url, max: 4 });
const postgresJs = (url: string, schema: string) =>
  load('postgres')(url, { max: 4, onnotice() {}, connection: { search_path: schema } });

const drizzleOn = (client: Any, driver: string, close: () => Promise<unknown>): Connected => {
  const { pgTable, text } = load('drizzle-orm/pg-core');
  const clips = pgTable('clips', { id: text('id') });
  const db = load(`drizzle-orm/${driver}`).drizzle(client);
  return {
    client: { drizzle: db },
    transaction: (work) => db.transaction(work),
    insert: (tx: Any, id) => tx.insert(clips).values({ id }),
    close,
  };
};

export const LIBRARIES: Readonly<Record<string, Connect>> = {
  async pg(url) {
    const pool = pgPool(url);
    return {
      client: { pg: pool },
      async transaction(work) {
        const tx = await pool.connect();
        try {
          await tx.query('BEGIN');
          const result = await work(tx as never);
          await tx.query('COMMIT');
          return result;
        } catch (error) {
          await tx.query('ROLLBACK');
          throw error;
        } finally {
          tx.release();
        }
      },
      insert: (tx: Any, id) => tx.query('INSERT INTO clips VALUES ($1)', [id]),
      close: () => pool.end(),
    };
  },

  async postgres(url, schema) {
    const sql = postgresJs(url, schema);
    return {
      client: { postgresJs: sql },
      transaction: (work) => sql.begin(work),
      insert: (tx: Any, id) => tx`INSERT INTO clips VALUES (${id})`,
      close: () => sql.end(),
    };
  },

  async 'Drizzle on pg'(url) {
    const pool = pgPool(url);
    return drizzleOn(pool, 'node-postgres', () => pool.end());
  },

  async 'Drizzle on postgres'(url, schema) {
    const sql = postgresJs(url, schema);
    return drizzleOn(sql, 'postgres-js', () => sql.end());
  },

  async Kysely(url) {
    const { Kysely, PostgresDialect, CamelCasePlugin } = load('kysely');
    // A plugin that renames columns, since the inbox must not depend on their names.
    const db = new Kysely({ dialect: new PostgresDialect({ pool: pgPool(url) }), plugins: [new CamelCasePlugin()] });
    return {
      client: { kysely: db },
      transaction: (work) => db.transaction().execute(work),
      insert: (tx: Any, id) => tx.insertInto('clips').values({ id }).execute(),
      close: () => db.destroy(),
    };
  },

  async Knex(url) {
    const db = load('knex')({ client: 'pg', connection: url, pool: { min: 0, max: 4 } });
    return {
      client: { knex: db },
      transaction: (work) => db.transaction(work),
      insert: (tx: Any, id) => tx('clips').insert({ id }),
      close: () => db.destroy(),
    };
  },

  async Prisma(url, schema) {
    const { PrismaPg } = load('@prisma/adapter-pg');
    return connectPrisma('.', new PrismaPg({ connectionString: url }, { schema }));
  },

  async TypeORM(url) {
    const { DataSource, EntitySchema } = load('typeorm');
    const Clip = new EntitySchema({
      name: 'Clip',
      tableName: 'clips',
      columns: { id: { type: 'text', primary: true } },
    });
    const dataSource = await new DataSource({ type: 'postgres', url, entities: [Clip] }).initialize();
    return {
      client: { typeorm: dataSource },
      transaction: (work) => dataSource.transaction(work),
      insert: (tx: Any, id) => tx.insert(Clip, { id }),
      close: () => dataSource.destroy(),
    };
  },

  async Sequelize(url, schema) {
    const { Sequelize, DataTypes } = load('sequelize');
    const sequelize = new Sequelize(url, { logging: false });
    const columns = { id: { type: DataTypes.TEXT, primaryKey: true } };
    const Clip = sequelize.define('Clip', columns, { tableName: 'clips', schema, timestamps: false });
    return {
      client: { sequelize },
      transaction: (work) => sequelize.transaction(work),
      insert: (transaction: Any, id) => Clip.create({ id }, { transaction }),
      close: () => sequelize.close(),
    };
  },

  async MikroORM(url, schema) {
    const { MikroORM, EntitySchema } = load('@mikro-orm/postgresql');
    const properties = { id: { type: 'text', primary: true } };
    const Clip = new EntitySchema({ name: 'Clip', tableName: 'clips', schema, properties });
    const orm = await MikroORM.init({ clientUrl: url, entities: [Clip] });
    const em = orm.em.fork();
    return {
      client: { mikroOrm: em },
      transaction: (work) => em.fork().transactional(work),
      insert: (tx: Any, id) => tx.insert(Clip, { id }),
      close: () => orm.close(),
    };
  },
};

/** The client is generated from the schema in a folder, once. */
export async function connectPrisma(folder: string, adapter: unknown): Promise<Connected> {
  if (!existsSync(here(`${folder}/generated/client.ts`))) generatePrismaClient(`${folder}/schema.prisma`);
  const { PrismaClient } = (await import(here(`${folder}/generated/client.js`))) as Any;
  const prisma = new PrismaClient({ adapter });
  return {
    client: { prisma },
    transaction: (work) => prisma.$transaction(work),
    insert: (tx: Any, id) => tx.clip.create({ data: { id } }),
    close: () => prisma.$disconnect(),
  };
}

/** Generating the client needs no engine, and the one that the program would download is not for this. */
function generatePrismaClient(schema: string): void {
  const program = here('node_modules/prisma/build/index.js');
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' };
  execFileSync(process.execPath, [program, 'generate', '--schema', schema], { cwd: here('.'), env });
}

/**
 * SQLite under Drizzle and under Kysely, on a file. Drizzle imports a package of the name better-sqlite3, which in this
 * folder is libsql, so that nothing is compiled twice; the handle is of better-sqlite3.
 */
export function openSqliteLibraries(file: string) {
  const Database = createRequire(import.meta.url)(betterSqlite3 as string);
  const { sqliteTable, text } = load('drizzle-orm/sqlite-core');
  const { Kysely, SqliteDialect } = load('kysely');
  const handle = new Database(file);
  handle.exec('PRAGMA synchronous = OFF; CREATE TABLE IF NOT EXISTS clips (id TEXT)');
  const clips = sqliteTable('clips', { id: text('id') });
  return {
    clips,
    drizzle: load('drizzle-orm/better-sqlite3').drizzle({ client: handle }),
    kysely: new Kysely({ dialect: new SqliteDialect({ database: handle }) }),
    ids: (): string[] =>
      handle
        .prepare('SELECT id FROM clips ORDER BY id')
        .all()
        .map(({ id }: { id: string }) => id),
    keys: (): string[] =>
      handle
        .prepare('SELECT key FROM webhook_inbox ORDER BY key')
        .all()
        .map(({ key }: Any) => key),
    busyTimeout: (): number => handle.prepare('PRAGMA busy_timeout').get().timeout,
    exec: (sql: string) => handle.exec(sql),
    close: () => handle.close(),
  };
}
