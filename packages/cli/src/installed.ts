import { existsSync } from 'node:fs';
import nodeModule from 'node:module';
import { join } from 'node:path';
import type { SqliteClient } from 'service-webhooks/stores/sqlite';
import { asked, Failure, fileFailure } from './failure.js';

/** A package of the project in the current directory, or a dependency of that package; undefined where it is missing. */
export function installed<Module>(name: string, dependency?: string): Module | undefined {
  let load = nodeModule.createRequire(join(process.cwd(), 'package.json'));
  try {
    if (dependency !== undefined) load = nodeModule.createRequire(load.resolve(name));
    load.resolve(dependency ?? name);
  } catch {
    return undefined;
  }
  return load(dependency ?? name) as Module;
}

/** {@link installed}, where the command cannot do without. @throws Failure */
export function needed<Module>(name: string, dependency?: string): Module {
  const module = installed<Module>(name, dependency);
  if (module !== undefined) return module;
  const missing = installed(name) === undefined ? name : (dependency ?? name);
  throw new Failure(
    'usage',
    `the project in this directory has no ${missing}: run this where your app is, or npm install ${missing}.`,
  );
}

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
