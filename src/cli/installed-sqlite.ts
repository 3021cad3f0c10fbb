import { existsSync } from 'node:fs';
import type { SqliteClient } from '../stores/sqlite/database.js';
import { asked, Failure, fileFailure } from './failure.js';
import { installed } from './installed.js';

/** An open file, with what is used of each library. */
export interface SqliteHandle {
  prepare(sql: string): { get(...values: unknown[]): unknown; run(...values: unknown[]): { changes: number | bigint } };
  exec(sql: string): unknown;
  close(): void;
}

type Open = new (file: string, options?: object) => SqliteHandle;

/** Opens a file that exists, with the library that the project in the current directory has. @throws Failure */
export function openSqliteFile(file: string, { readonly }: { readonly: boolean }) {
  if (!existsSync(file)) throw fileFailure(file, { code: 'ENOENT' });
  const { client, handle } = open(file, readonly);
  return { handle, client: { [client]: handle } as unknown as SqliteClient };
}

/** Turns what a library says of a file into a Failure. */
export function askFile<T>(file: string, call: () => T | Promise<T>): Promise<T> {
  return asked(call, (reason) => new Failure('file', `${file}: ${reason}`));
}

function open(file: string, readonly: boolean): { client: 'betterSqlite3' | 'nodeSqlite'; handle: SqliteHandle } {
  const Database = installed<Open>('better-sqlite3') ?? installed<Open>('libsql');
  if (Database) return { client: 'betterSqlite3', handle: new Database(file, readonly ? { readonly } : {}) };
  const nodeSqlite = process.getBuiltinModule?.('node:sqlite') as { DatabaseSync: Open } | undefined;
  if (nodeSqlite) return { client: 'nodeSqlite', handle: new nodeSqlite.DatabaseSync(file, { readOnly: readonly }) };
  throw new Failure(
    'usage',
    'this project has no better-sqlite3, and this Node has no node:sqlite. Use Node 22 or later.',
  );
}
