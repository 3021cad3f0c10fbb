import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { betterSqlite3, libsql, nodeSqlite } from './installed.js';
import { type Driver, type Handle, openSqlite } from './sqlite.js';
import { buildWorkers, startWorker, type Worker } from './worker.js';

/** A library that this Node can load. */
export type Library = readonly [name: string, driver: Driver];

export const libraries: readonly Library[] = [
  ['better-sqlite3', 'betterSqlite3', betterSqlite3] as const,
  ['libsql', 'betterSqlite3', libsql] as const,
  ['node:sqlite', 'nodeSqlite', nodeSqlite] as const,
].flatMap(([name, client, module]) => (module ? [[name, { client, module }] as const] : []));

export interface SqliteFiles {
  newFile(): string;
  /** Closed after the test. */
  open(driver: Driver, file: string, timeout?: number): Handle;
  /** Another process, running one of `workers/`. */
  start(script: string, input: { driver: Driver; [name: string]: unknown }): Worker;
}

/** Database files for the tests of one file, removed after them. */
export function sqliteFiles(): SqliteFiles {
  let folder: string;
  let built: ReturnType<typeof buildWorkers> | undefined;
  let files = 0;
  const opened: Handle[] = [];

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'service-webhooks-sqlite-'));
  });

  afterEach(() => {
    for (const handle of opened.splice(0)) handle.close();
  });

  afterAll(() => {
    rmSync(folder, { recursive: true });
    built?.remove();
  });

  return {
    newFile() {
      files += 1;
      return join(folder, `${files}.db`);
    },
    open(driver, file, timeout) {
      const handle = openSqlite(driver, file, timeout);
      opened.push(handle);
      return handle;
    },
    start(script, input) {
      built ??= buildWorkers();
      return startWorker(join(built.folder, `test/integration/workers/${script}.js`), input);
    },
  };
}
