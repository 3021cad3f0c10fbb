import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { betterSqlite3, libsql, node24, nodeSqlite } from './installed.js';
import { type Driver, type Handle, openSqlite } from './sqlite.js';
import { buildWorkers, startWorker, type Worker } from './worker.js';

/** A library, and the node that runs it: node:sqlite is a part of Node from version 22 on. */
export type Library = readonly [name: string, driver: Driver, node: string];

export const libraries: readonly Library[] = [
  ['better-sqlite3', 'betterSqlite3', betterSqlite3, process.execPath] as const,
  ['libsql', 'betterSqlite3', libsql, process.execPath] as const,
  ['node:sqlite', 'nodeSqlite', nodeSqlite, process.execPath] as const,
  ['node:sqlite of Node 24', 'nodeSqlite', node24 && 'node:sqlite', node24 ?? ''] as const,
].flatMap(([name, client, module, node]) => (module ? [[name, { client, module }, node] as const] : []));

export const librariesOfThisNode = libraries.filter(([, , node]) => node === process.execPath);

export interface SqliteFiles {
  newFile(): string;
  /** Closed after the test. */
  open(driver: Driver, file: string, timeout?: number): Handle;
  /** Another process, running one of `workers/`. */
  start(script: string, input: { driver: Driver; [name: string]: unknown }, node?: string): Worker;
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
    start(script, input, node) {
      built ??= buildWorkers();
      return startWorker(join(built.folder, `test/integration/workers/${script}.js`), input, node);
    },
  };
}
