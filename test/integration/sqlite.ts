import { createRequire } from 'node:module';
import type { SqliteClient } from '../../src/stores/sqlite.js';

/** A library to open a database with; what it is loaded from, so that another process can do the same. */
export interface Driver {
  client: 'betterSqlite3' | 'nodeSqlite';
  module: string;
}

export interface Statement {
  get(...values: unknown[]): unknown;
  all(...values: unknown[]): unknown[];
  run(...values: unknown[]): { changes: number | bigint };
}

export interface Handle {
  prepare(sql: string): Statement;
  exec(sql: string): unknown;
  close(): void;
}

type Constructor = new (file: string) => Handle;

/**
 * With a busy timeout of 0 unless another one is given, whatever the library's own is. Nothing waits for the disk: what
 * is tested is the death of processes, not of the machine.
 */
export function openSqlite(driver: Driver, file: string, timeout = 0): Handle {
  const handle = connect(driver, file);
  // It waits for others that open the file at this moment; from then on it waits for nobody unless told to.
  handle.exec(`PRAGMA busy_timeout = 10000; PRAGMA synchronous = OFF; PRAGMA busy_timeout = ${timeout}`);
  return handle;
}

/** With the settings of the library. */
export function connect({ client, module }: Driver, file: string): Handle {
  const loaded: unknown = createRequire(import.meta.url)(module);
  if (client === 'betterSqlite3') return new (loaded as Constructor)(file);
  return new (loaded as { DatabaseSync: Constructor }).DatabaseSync(file);
}

export function clientOf({ client }: Driver, handle: Handle): SqliteClient {
  return client === 'betterSqlite3' ? { betterSqlite3: handle } : { nodeSqlite: handle };
}
