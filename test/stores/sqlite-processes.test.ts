import { chmodSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sqliteStore } from 'service-webhooks/stores/sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { clientOf, type Driver } from '../integration/sqlite.js';
import { type Library, libraries, sqliteFiles } from '../integration/sqlite-libraries.js';
import { aClaim } from './requests.js';

const { newFile, open, start } = sqliteFiles();

/** A file on which a process has died `at` some point of its work for a key. */
async function fileOfKilled(driver: Driver, at: string, key: string): Promise<string> {
  const file = newFile();
  const killed = start('sqlite-crash', { driver, file, at, key });
  await killed.next();
  expect(await killed.ended).toMatchObject({ signal: 'SIGKILL' });
  return file;
}

describe.each(libraries)('sqliteStore on %s, in processes of its own', (_, driver) => {
  it('a store passes the suite in real time, by the clock of SQLite', async () => {
    const worker = start('sqlite-suite', { driver, file: newFile() });
    const results: Record<string, string> = {};
    for (;;) {
      const said = (await worker.next()) as { name: string; result: string } | { node: string };
      if ('node' in said) break;
      results[said.name] = said.result;
    }
    expect(await worker.ended).toEqual({ code: 0, signal: null });
    expect(Object.entries(results).filter(([, result]) => result !== 'passed' && result !== 'skipped')).toEqual([]);
    expect(Object.values(results).filter((result) => result === 'passed').length).toBeGreaterThan(50);
  });

  it('a store gives each of 1,000 keys to exactly one of six processes', async () => {
    const file = newFile();
    const workers = Array.from({ length: 6 }, () => start('sqlite-race', { driver, file, keys: 1_000 }));
    expect(await Promise.all(workers.map((worker) => worker.next()))).toEqual(Array(6).fill('ready'));
    for (const worker of workers) worker.go();
    const won = (await Promise.all(workers.map((worker) => worker.next()))) as number[][];
    expect(won.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: 1_000 }, (_, key) => key));
  });

  it.each([
    ['claimed', 'in_progress'],
    ['completed', 'completed'],
  ])('a store keeps what was %s by a process that was killed right after', async (at, status) => {
    const file = await fileOfKilled(driver, at, 'crash');
    const next = start('sqlite-claim', { driver, file, request: aClaim('crash') });
    expect(await next.next()).toMatchObject({ status });
  });
});

describe.each(libraries)('sqliteInbox on %s, in processes of its own', (_, driver) => {
  it.each([
    ['before', { effects: 0, next: 'done' }],
    ['after', { effects: 1, next: 'duplicate' }],
  ])('a process killed %s the commit leaves the record and the writes, or neither', async (side, expected) => {
    const file = await fileOfKilled(driver, `${side} commit`, 'evt_1');
    const next = start('sqlite-inbox', { driver, file, key: 'evt_1' });
    expect(await next.next()).toEqual(expected);
  });
});

describe('sqliteStore', () => {
  const [library] = libraries;

  it.skipIf(library === undefined)(
    'a store says what is wrong with a directory that cannot be written to',
    async () => {
      const [, driver] = library as Library;
      const directory = `${newFile()}-read-only`;
      const file = join(directory, 'a.db');
      mkdirSync(directory);
      const handle = open(driver, file);
      await sqliteStore(clientOf(driver, handle)).init?.();
      handle.close();
      chmodSync(file, 0o444);
      chmodSync(directory, 0o555);
      onTestFinished(() => chmodSync(directory, 0o755)); // or a user without root could not remove it
      chmodSync(dirname(directory), 0o755);
      // As nobody, since permissions do not hold for root.
      const worker = start('sqlite-claim', { driver, file, request: aClaim(), as: 65_534 });
      expect(await worker.next()).toMatchObject({
        code: 'store_unavailable',
        hint: expect.stringContaining('writable'),
      });
    },
  );
});
