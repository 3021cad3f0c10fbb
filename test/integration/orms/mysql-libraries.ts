import { type Any, type Connected, connectPrisma, load } from './libraries.js';

const pool = (url: string) => load('mysql2/promise').createPool({ uri: url, connectionLimit: 10 });
/** As most libraries take it: with callbacks. */
const callbackPool = (url: string) => load('mysql2').createPool({ uri: url, connectionLimit: 10 });
const hostOf = (url: string) => {
  const { hostname: host, port, username: user, pathname } = new URL(url);
  return { host, port: Number(port), user, database: pathname.slice(1) };
};

/** Each library whose transactions `mysqlInbox` takes, connected to a database that has a table `clips (id)`. */
export const MYSQL_LIBRARIES: Readonly<Record<string, (url: string) => Promise<Connected>>> = {
  async mysql2(url) {
    const connections = pool(url);
    return {
      client: { mysql2: connections },
      async transaction(work) {
        const tx = await connections.getConnection();
        try {
          await tx.beginTransaction();
          const result = await work(tx as never);
          await tx.commit();
          return result;
        } catch (error) {
          await tx.rollback();
          throw error;
        } finally {
          tx.release();
        }
      },
      insert: (tx: Any, id) => tx.execute('INSERT INTO clips VALUES (?)', [id]),
      close: () => connections.end(),
    };
  },

  async Drizzle(url) {
    const connections = pool(url);
    const { mysqlTable, text } = load('drizzle-orm/mysql-core');
    const clips = mysqlTable('clips', { id: text('id') });
    const db = load('drizzle-orm/mysql2').drizzle({ client: connections });
    return {
      client: { drizzle: db },
      transaction: (work) => db.transaction(work),
      insert: (tx: Any, id) => tx.insert(clips).values({ id }),
      close: () => connections.end(),
    };
  },

  async Kysely(url) {
    const { Kysely, MysqlDialect, CamelCasePlugin } = load('kysely');
    // A plugin that renames columns, since the inbox must not depend on their names.
    const db = new Kysely({ dialect: new MysqlDialect({ pool: callbackPool(url) }), plugins: [new CamelCasePlugin()] });
    return {
      client: { kysely: db },
      transaction: (work) => db.transaction().execute(work),
      insert: (tx: Any, id) => tx.insertInto('clips').values({ id }).execute(),
      close: () => db.destroy(),
    };
  },

  async Knex(url) {
    const db = load('knex')({ client: 'mysql2', connection: url, pool: { min: 0, max: 10 } });
    return {
      client: { knex: db },
      transaction: (work) => db.transaction(work),
      insert: (tx: Any, id) => tx('clips').insert({ id }),
      close: () => db.destroy(),
    };
  },

  async Prisma(url) {
    const { PrismaMariaDb } = load('@prisma/adapter-mariadb');
    return connectPrisma('mysql', new PrismaMariaDb(hostOf(url)));
  },

  async 'Prisma as text'(url) {
    const { PrismaMariaDb } = load('@prisma/adapter-mariadb');
    return connectPrisma('mysql', new PrismaMariaDb(hostOf(url), { useTextProtocol: true }));
  },

  async TypeORM(url) {
    const { DataSource, EntitySchema } = load('typeorm');
    const Clip = new EntitySchema({
      name: 'Clip',
      tableName: 'clips',
      columns: { id: { type: 'varchar', primary: true } },
    });
    const dataSource = await new DataSource({ type: 'mysql', url, entities: [Clip] }).initialize();
    return {
      client: { typeorm: dataSource },
      transaction: (work) => dataSource.transaction(work),
      insert: (tx: Any, id) => tx.insert(Clip, { id }),
      close: () => dataSource.destroy(),
    };
  },

  async Sequelize(url) {
    const { Sequelize, DataTypes } = load('sequelize');
    const sequelize = new Sequelize(url, { logging: false });
    const columns = { id: { type: DataTypes.STRING, primaryKey: true } };
    const Clip = sequelize.define('Clip', columns, { tableName: 'clips', timestamps: false });
    return {
      client: { sequelize },
      transaction: (work) => sequelize.transaction(work),
      insert: (transaction: Any, id) => Clip.create({ id }, { transaction }),
      close: () => sequelize.close(),
    };
  },

  async MikroORM(url) {
    const { MikroORM, EntitySchema } = load('@mikro-orm/mysql');
    const properties = { id: { type: 'text', primary: true } };
    const Clip = new EntitySchema({ name: 'Clip', tableName: 'clips', properties });
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
