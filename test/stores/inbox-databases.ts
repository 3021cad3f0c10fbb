import { mysqlInbox } from 'service-webhooks/stores/mysql';
import type { InboxOptions, TransactionInbox } from 'service-webhooks/stores/postgres';
import { postgresInbox } from 'service-webhooks/stores/postgres';
import { MIKRO_ORM_7 } from '../integration/mikro-orm-7/libraries.js';
import { type Connected, isInstalled, LIBRARIES } from '../integration/orms/libraries.js';
import { MYSQL_LIBRARIES } from '../integration/orms/mysql-libraries.js';
import { startMysql } from '../support/mysql.js';
import { startPostgres } from '../support/postgres.js';

/** A database with a table `clips (id)`, and the libraries whose transactions an inbox takes there. */
export interface InboxDatabase {
  libraries: [name: string, connect: () => Promise<Connected>][];
  inbox(client: Record<string, unknown>, options: InboxOptions): TransactionInbox<never>;
  /** Runs a statement and returns the first column. */
  column(statement: string): Promise<string[]>;
  /** Locks a table until the returned function is called. */
  lock(table: string): Promise<() => Promise<void>>;
  stop(): Promise<void>;
}

export async function openPostgres(): Promise<InboxDatabase | undefined> {
  const server = isInstalled ? await startPostgres() : undefined;
  if (server === undefined) return undefined;
  const { url, schema, admin } = server;
  const options = encodeURIComponent(`-c search_path=${schema}`);
  await admin.query(`SET search_path = ${schema}`);
  admin.on('connect', (client) => client.query(`SET search_path = ${schema}`));
  await admin.query(`CREATE TABLE ${schema}.clips (id text)`);
  return {
    libraries: Object.entries({ ...LIBRARIES, ...MIKRO_ORM_7.postgres }).map(([name, connect]) => [
      name,
      () => connect(`${url}?options=${options}`, schema),
    ]),
    inbox: (client, settings) =>
      postgresInbox(client as never, { ...settings, table: `${schema}.${settings.table}` }) as TransactionInbox<never>,
    async column(statement) {
      const { rows } = await admin.query<[string], never>({ text: statement, rowMode: 'array' } as never);
      return rows.map((row) => String(Object.values(row as object)[0]));
    },
    async lock(table) {
      const client = await admin.connect();
      await client.query('BEGIN');
      await client.query(`LOCK TABLE ${schema}.${table} IN ACCESS EXCLUSIVE MODE`);
      return async () => {
        await client.query('ROLLBACK');
        client.release();
      };
    },
    stop: () => server.stop(),
  };
}

/** The libraries that `mysqlInbox` takes: none where they are not installed. */
export const mysqlLibraries = isInstalled ? Object.entries({ ...MYSQL_LIBRARIES, ...MIKRO_ORM_7.mysql }) : [];

export async function openMysql(): Promise<InboxDatabase | undefined> {
  const server = isInstalled ? await startMysql() : undefined;
  if (server === undefined) return undefined;
  const { url, admin } = server;
  await admin.query('CREATE TABLE clips (id varchar(255))');
  return {
    libraries: mysqlLibraries.map(([name, connect]) => [name, () => connect(url)]),
    inbox: (client, settings) => mysqlInbox(client as never, settings) as TransactionInbox<never>,
    async column(statement) {
      const [rows] = await admin.query({ sql: statement, rowsAsArray: true });
      return Array.isArray(rows) ? rows.map((row) => String(Object.values(row)[0])) : [];
    },
    async lock(table) {
      const connection = await admin.getConnection();
      await connection.query(`LOCK TABLES ${table} WRITE`);
      return async () => {
        await connection.query('UNLOCK TABLES');
        connection.release();
      };
    },
    stop: () => server.stop(),
  };
}
