import {
  type PgClient,
  type PostgresJsClient,
  queryOnPg,
  queryOnPostgresJs,
} from '../../../../../src/stores/postgres/client.js';
import { quotedTable } from '../../../../../src/stores/postgres/query.js';
import * as postgres from '../../../../../src/stores/postgres/schema.js';
import { checkTable } from '../../../../../src/stores/sqlite/database.js';
import * as sqlite from '../../../../../src/stores/sqlite/schema.js';
import { Failure } from '../../failure.js';
import { askFile, installed, openSqliteFile } from '../../installed.js';
import { askServer } from '../../server-url.js';

/** The databases whose tables are versioned, as their options are named. */
export type DatabaseKind = 'postgres' | 'sqlite';

/** The names of the tables. Default: both default names. */
interface TableNames {
  table?: string | undefined;
  inboxTable?: string | undefined;
}

/** One table: its purpose, its name, and the statements that create or update it. */
interface VersionedTable {
  purpose: 'store' | 'inbox';
  name: string;
  statements: readonly string[];
}

export const SCHEMA_VERSIONS: Readonly<Record<DatabaseKind, number>> = {
  postgres: postgres.SCHEMA_VERSION,
  sqlite: sqlite.SCHEMA_VERSION,
};

/**
 * @throws WebhookError `invalid_option` for a name that cannot be a table
 */
export function tablesOf(kind: DatabaseKind, { table, inboxTable }: TableNames): VersionedTable[] {
  const isDefault = table === undefined && inboxTable === undefined;
  const store = isDefault ? 'webhook_deliveries' : table;
  const inbox = isDefault ? 'webhook_inbox' : inboxTable;
  const { storeSchema, inboxSchema } = kind === 'postgres' ? postgres : sqlite;
  return [
    ...(store === undefined
      ? []
      : [{ purpose: 'store' as const, name: store, statements: storeSchema(written(kind, store)) }]),
    ...(inbox === undefined
      ? []
      : [{ purpose: 'inbox' as const, name: inbox, statements: inboxSchema(written(kind, inbox)) }]),
  ];
}

/** Returns the name as statements write it. */
function written(kind: DatabaseKind, name: string): string {
  if (kind === 'postgres') return quotedTable(name);
  checkTable(name);
  return name;
}

/** Returns one SQL script for all tables. It may run repeatedly, and updates older tables. */
export function migrationScript(kind: DatabaseKind, names: TableNames): string {
  const title = { postgres: 'PostgreSQL', sqlite: 'SQLite and D1' }[kind];
  const parts = tablesOf(kind, names).map(({ purpose, statements }) => {
    const holds = {
      store: 'a dedupe store: one row for each event',
      inbox: 'an inbox: one row for each event whose effects are committed',
    };
    return `-- The table of ${holds[purpose]}.\n${statements.map((statement) => `${statement};\n`).join('')}`;
  });
  return `-- service-webhooks, tables of version ${SCHEMA_VERSIONS[kind]} for ${title}. This script may run again.\n\n${parts.join('\n')}`;
}

/** A database whose tables can be looked up. */
interface Database {
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
