import { clientName } from '../named-client.js';
import { type Query, type Reply, replyOf, retryingUndone } from './query.js';

/** The pool of the app, under the name of its library. It is never closed, and gets no listener. */
export interface MysqlClient {
  /** A pool of `mysql2` or of `mysql2/promise`. */
  mysql2: Mysql2Pool | Mysql2CallbackPool;
}

/** The result of `createPool()` of `mysql2/promise`. */
export interface Mysql2Pool {
  getConnection(): Promise<Mysql2Connection>;
}

/** The result of `createPool()` of `mysql2`. */
export interface Mysql2CallbackPool {
  promise(): Mysql2Pool;
}

/** A connection of a pool: the methods that are used. */
export interface Mysql2Connection {
  query(options: Mysql2Query): Promise<[unknown, unknown]>;
  release(): void;
  destroy(): void;
}

/** A statement, with settings in place of those of the pool. */
export interface Mysql2Query {
  sql: string;
  rowsAsArray: boolean;
  nestTables: boolean;
  typeCast(field: { buffer(): Uint8Array | null }): unknown;
}

/** How statements are run. What the server has undone, such as the victim of a deadlock, is run again. */
export interface Database {
  /** Runs one statement, as a transaction of its own, on any connection. */
  query: Query;
  /** Runs several statements on one connection, in one transaction. */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T>;
}

/** The client with the method that is used. */
export const MYSQL_FORMS = { mysql2: { methods: ['getConnection'], example: 'pool' } };

/** Returns how a client runs statements. @throws WebhookError `invalid_option` */
export function databaseOf(subject: string, client: MysqlClient): Database {
  clientName(subject, client, MYSQL_FORMS);
  const { mysql2 } = client;
  const pool = 'promise' in mysql2 && typeof mysql2.promise === 'function' ? mysql2.promise() : (mysql2 as Mysql2Pool);
  /** Whether the connections commit each statement, as far as it is known. */
  const committing = new WeakMap<object, boolean>();

  async function send(connection: Mysql2Connection, statement: string): Promise<Reply> {
    const reply = await queryOnMysql2(connection)(statement);
    if (reply.isAutocommit !== undefined) committing.set(coreOf(connection), reply.isAutocommit);
    return reply;
  }

  /**
   * Where an app has turned autocommit off, a statement is part of a transaction that may have begun long ago, and that
   * nothing would end. A write says so in its reply; before a read, a connection is asked once.
   */
  async function commits(connection: Mysql2Connection, statement: string): Promise<boolean | undefined> {
    const core = coreOf(connection);
    if (!committing.has(core) && statement.startsWith('SELECT')) {
      const { rows } = await send(connection, 'SELECT @@autocommit');
      committing.set(core, rows[0]?.[0] !== '0');
    }
    return committing.get(core);
  }

  async function alone(connection: Mysql2Connection, statement: string): Promise<Reply> {
    if ((await commits(connection, statement)) === false) await send(connection, 'COMMIT');
    const reply = await send(connection, statement);
    if (committing.get(coreOf(connection)) === false) await send(connection, 'COMMIT');
    return reply;
  }

  async function together<T>(connection: Mysql2Connection, work: (query: Query) => Promise<T>): Promise<T> {
    await send(connection, 'START TRANSACTION');
    const result = await work((statement) => send(connection, statement));
    await send(connection, 'COMMIT');
    return result;
  }

  async function onConnection<T>(work: (connection: Mysql2Connection) => Promise<T>): Promise<T> {
    const connection = await pool.getConnection();
    try {
      return await work(connection);
    } catch (error) {
      await send(connection, 'ROLLBACK').catch(() => connection.destroy());
      throw error;
    } finally {
      connection.release();
    }
  }

  return {
    query: retryingUndone((statement) => onConnection((connection) => alone(connection, statement))),
    transaction: (work) => retryingUndone(() => onConnection((connection) => together(connection, work)))(),
  };
}

/** Runs statements on a connection, whatever the settings of its pool are. */
export function queryOnMysql2(connection: Pick<Mysql2Connection, 'query'>): Query {
  return async (sql) => {
    const typeCast: Mysql2Query['typeCast'] = (field) => field.buffer();
    const [result] = await connection.query({ sql, rowsAsArray: true, nestTables: false, typeCast });
    return replyOf(result);
  };
}

/** Returns the connection in the object that a pool of promises makes for each use of it. */
function coreOf(connection: Mysql2Connection): object {
  return (connection as { connection?: object }).connection ?? connection;
}
