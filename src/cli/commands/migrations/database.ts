import { type PgClient, type PostgresJsClient, queryOnPg, queryOnPostgresJs } from '../../../stores/postgres/client.js';
import * as postgres from '../../../stores/postgres/schema.js';
import * as sqlite from '../../../stores/sqlite/schema.js';
import { Failure } from '../../failure.js';
import { installed } from '../../installed.js';
import { askFile, openSqliteFile } from '../../installed-sqlite.js';
import { askServer } from '../../server-url.js';
import { type DatabaseKind, written } from './schemas.js';

/** A database whose tables can be looked up. */
export interface Database {
  /** Returns the version of a table, 0 for one without a version, and undefined where it is missing. */
  versionOf(table: string): Promise<number | undefined>;
  close(): Promise<void>;
}

/** Opens a database with a client that the project in the current directory has installed. */
export function openDatabase(kind: DatabaseKind, address: string): Promise<Database> {
  return kind === 'postgres' ? openPostgres(address) : openSqlite(address);
}

const CONNECT_SECONDS = 10;

async function openPostgres(url: string): Promise<Database> {
  const ask = <Answer>(call: () => Promise<Answer>) => askServer('postgres', url, call);
  const { query, close } = await ask(() => connect(url));
  return { versionOf: (table) => ask(() => postgres.schemaVersion(query, written('postgres', table))), close };
}

async function connect(url: string) {
  const pg = installed<{ Client: new (options: object) => PgClient & PgConnection }>('pg');
  if (pg) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_SECONDS * 1_000 });
    await client.connect();
    return { query: queryOnPg(client), close: () => client.end() };
  }
  const createSql =
    installed<(url: string, options: object) => PostgresJsClient & { end(): Promise<void> }>('postgres');
  if (!createSql) throw new Failure('usage', 'this project has neither pg nor postgres. Install one of them.');
  const sql = createSql(url, { max: 1, connect_timeout: CONNECT_SECONDS, onnotice() {} });
  const query = queryOnPostgresJs(sql);
  await query('SELECT 1 AS one');
  return { query, close: () => sql.end() };
}

interface PgConnection {
  connect(): Promise<unknown>;
  end(): Promise<void>;
}

async function openSqlite(file: string): Promise<Database> {
  const { handle } = openSqliteFile(file, { readonly: true });
  return {
    versionOf: (table) =>
      askFile(file, () => sqlite.schemaVersion(written('sqlite', table), (sql) => handle.prepare(sql).get())),
    close: async () => handle.close(),
  };
}
