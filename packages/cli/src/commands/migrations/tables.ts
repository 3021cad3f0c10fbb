import { mysqlTables, mysqlTableVersion } from 'service-webhooks/stores/mysql';
import {
  postgresTables,
  postgresTableVersion,
  type SqlTables,
  type TableNames,
} from 'service-webhooks/stores/postgres';
import { sqliteTables, sqliteTableVersion } from 'service-webhooks/stores/sqlite';
import { askFile, openSqliteFile } from '../../installed.js';
import { connectMysql } from '../../mysql-client.js';
import { connectPostgres } from '../../postgres-client.js';
import { askServer } from '../../server-url.js';

/** The databases whose tables are versioned, as their options are named. */
export const KINDS = ['postgres', 'mysql', 'sqlite'] as const;
export type DatabaseKind = (typeof KINDS)[number];

/** All tables, or those that are named. @throws WebhookError `invalid_option` for a name that cannot be a table */
export function tablesOf(kind: DatabaseKind, names: TableNames): SqlTables {
  return { postgres: postgresTables, mysql: mysqlTables, sqlite: sqliteTables }[kind](names);
}

/** Returns one SQL script for all tables. It may run repeatedly, and updates older tables. */
export function migrationScript(kind: DatabaseKind, names: TableNames): string {
  const title = { postgres: 'PostgreSQL', mysql: 'MySQL and MariaDB', sqlite: 'SQLite and D1' }[kind];
  const { version, tables } = tablesOf(kind, names);
  const parts = tables.map(({ purpose, statements }) => {
    const holds = {
      store: 'a dedupe store: one row for each event',
      inbox: 'an inbox: one row for each event whose effects are committed',
      jobs: 'jobs: one row for each job that the app has started',
    };
    return `-- The table of ${holds[purpose]}.\n${statements.map((statement) => `${statement};\n`).join('')}`;
  });
  return `-- service-webhooks, tables of version ${version} for ${title}. This script may run again.\n\n${parts.join('\n')}`;
}

/** A database whose tables can be looked up. */
interface Database {
  /** Returns the version of a table, 0 for one without a version, and undefined where it is missing. */
  versionOf(table: string): Promise<number | undefined>;
  close(): Promise<void>;
}

/** Opens a database with a client that the project in the current directory has installed. */
export function openDatabase(kind: DatabaseKind, address: string): Promise<Database> {
  return { postgres: openPostgres, mysql: openMysql, sqlite: openSqlite }[kind](address);
}

async function openPostgres(url: string): Promise<Database> {
  const ask = <Answer>(call: () => Promise<Answer>) => askServer('postgres', url, call);
  const { client, close } = await ask(() => connectPostgres(url));
  return { versionOf: (table) => ask(() => postgresTableVersion(client, table)), close };
}

async function openMysql(url: string): Promise<Database> {
  const ask = <Answer>(call: () => Promise<Answer>) => askServer('mysql', url, call);
  const { client, close } = await ask(() => connectMysql(url));
  return { versionOf: (table) => ask(() => mysqlTableVersion(client, table)), close };
}

async function openSqlite(file: string): Promise<Database> {
  const { handle, client } = openSqliteFile(file, { readonly: true });
  return {
    versionOf: (table) => askFile(file, () => sqliteTableVersion(client, table)),
    close: async () => handle.close(),
  };
}
