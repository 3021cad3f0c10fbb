import { createRequire } from 'node:module';
import type { SqliteClient } from '../../src/stores/sqlite.js';

/** A library to open a database with; what it is loaded from, so that another process can do the same. */
export interface Driver {
  client: 'betterSqlite3' | 'nodeSqlite';
  module: string;
}

export interface Statement {
  get(...values: unknown[]): unknown;
  run(...values: unknown[]): { changes: number | bigint };
}

export interface Handle {
  prepare(sql: string): Statement;
  exec(sql: string): unknown;
  close(): void;
}

type Constructor = new (file: string, options: object) => Handle;

/** With a busy timeout of 0 unless another one is given, whatever the library's own is. */
export function openSqlite(driver: Driver, file: string, timeout = 0): Handle {
  const load = createRequire(import.meta.url);
  if (driver.client === 'betterSqlite3') return new (load(driver.module) as Constructor)(file, { timeout });
  const { DatabaseSync } = load(driver.module) as { DatabaseSync: Constructor };
  const handle = new DatabaseSync(file, {});
  handle.exec(`PRAGMA busy_timeout = ${timeout}`);
  return handle;
}

export function clientOf({ client }: Driver, handle: Handle): SqliteClient {
  return client === 'betterSqlite3' ? { betterSqlite3: handle } : { nodeSqlite: handle };
}
