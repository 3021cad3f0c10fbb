import type { DedupeStore } from 'service-webhooks';
import { type SqliteStoreOptions, sqliteStore } from 'service-webhooks/stores/sqlite';
import { type StoreUnderTest, storeSuite } from 'service-webhooks-suites';
import { describe, expect, it, vi } from 'vitest';
import { clientOf, type Handle, type Statement } from '../integration/sqlite.js';
import { libraries, sqliteFiles } from '../integration/sqlite-libraries.js';
import { rejection } from '../support/deliveries.js';
import { expectEveryAnswer, expectRefusals } from './every-answer.js';
import { aClaim, itRefuses } from './requests.js';

/** How a statement is told to read integers as bigint. */
type BigIntSwitch = { [name in 'safeIntegers' | 'setReadBigInts']?: (on: boolean) => unknown };

const { newFile, open: openFile } = sqliteFiles();

describe.each(libraries)('sqliteStore on %s', (_, driver) => {
  const open = (file: string, timeout?: number) => openFile(driver, file, timeout);

  const storeOf = (handle: Handle, options?: SqliteStoreOptions) => sqliteStore(clientOf(driver, handle), options);

  /** A store whose table is there, on a file of its own or on that of a handle. */
  async function aStore(handle = open(newFile()), options?: SqliteStoreOptions) {
    const store = storeOf(handle, options);
    await store.init?.();
    return { store, handle };
  }

  /** A handle that tells what is asked of it. */
  const watched = (handle: Handle, watch: { exec?(sql: string): void; prepare?(sql: string): void }): Handle => ({
    close: () => handle.close(),
    exec(sql) {
      watch.exec?.(sql);
      return handle.exec(sql);
    },
    prepare(sql) {
      watch.prepare?.(sql);
      return handle.prepare(sql);
    },
  });

  describe('passes the suite:', () => {
    type Made = StoreUnderTest & { handle: Handle; clock: { now: number }; reopen(): DedupeStore };

    function make(): Made {
      const file = newFile();
      const clock = { now: Date.UTC(2026, 0) };
      const storeOn = (handle: Handle) => storeOf(handle, { now: () => clock.now });
      const handle = open(file);
      return { handle, clock, store: storeOn(handle), store2: storeOn(open(file)), reopen: () => storeOn(open(file)) };
    }

    function rowOf({ handle }: Made, key: string): unknown {
      const columns = 'state, owner, fence, attempt, lease_until, expires_at, fingerprint, alias, updated_at';
      return handle.prepare(`SELECT json_array(${columns}) AS row FROM webhook_deliveries WHERE key = ?`).get(key);
    }

    const cases = storeSuite<Made>({
      make,
      advance({ clock }, ms) {
        clock.now += ms;
      },
      evict: ({ handle }, key) => handle.prepare('DELETE FROM webhook_deliveries WHERE key = ?').run(key),
      raw: (made, key) => JSON.stringify((rowOf(made, key) as { row: string }).row),
      restart: ({ reopen }) => reopen(),
      rounds: 30,
    });
    for (const { name, skip, run } of cases) it.skipIf(skip)(name, run);
  });

  it('each operation is answered with what the store knows of the event', async () => {
    const { store } = await aStore();
    await expectEveryAnswer(store);
    expect(store.scope).toBe('host');
  });

  it.each(['claim', 'complete', 'release'] as const)('%s() rejects where its commit fails', async (operation) => {
    const { store, handle } = await aStore();
    const claim = aClaim();
    const { fence } = await store.claim(claim);
    handle.exec(`PRAGMA foreign_keys = ON;
      CREATE TABLE parents (id INTEGER PRIMARY KEY);
      CREATE TABLE children (parent INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED);
      CREATE TRIGGER orphan AFTER UPDATE ON webhook_deliveries BEGIN INSERT INTO children VALUES (1); END`);
    const call = () => store[operation]({ ...claim, fence }, claim);
    await expect(call()).rejects.toThrow('FOREIGN KEY constraint failed');
    expect(await store.inspect?.(claim.key)).toMatchObject({ state: 'in_progress', attempt: 1 });
    handle.exec('INSERT INTO parents VALUES (1)');
    expect(['ok', 'acquired']).toContain(
      ((result) => (typeof result === 'string' ? result : result.status))(await call()),
    );
  });

  it('a store sets the journal to WAL', async () => {
    const { handle } = await aStore();
    expect(handle.prepare('PRAGMA journal_mode').get()).toMatchObject({ journal_mode: 'wal' });
  });

  it.each([
    ['is set where there is none', 0, 1_000],
    ['that is longer stays', 3_000, 3_000],
  ])('a busy timeout %s', async (_, before, timeout) => {
    const { handle } = await aStore(open(newFile(), before));
    expect(handle.prepare('PRAGMA busy_timeout').get()).toMatchObject({ timeout });
  });

  it('statements are prepared once', async () => {
    const prepared: string[] = [];
    const { store } = await aStore(watched(open(newFile()), { prepare: (sql) => prepared.push(sql) }));
    await store.claim(aClaim());
    prepared.length = 0;
    expect(await store.claim(aClaim())).toMatchObject({ status: 'acquired' });
    expect(prepared).toEqual([]);
  });

  it('rows survive when several stores are initialised again at once', async () => {
    const file = newFile();
    const [store, second, third] = [storeOf(open(file)), storeOf(open(file)), storeOf(open(file))] as const;
    await Promise.all([store.init?.(), second.init?.(), third.init?.()]);
    await store.claim(aClaim('kept'));
    await Promise.all([store.init?.(), second.init?.(), third.init?.()]);
    expect(await second.claim(aClaim('kept'))).toMatchObject({ status: 'in_progress' });
  });

  it('init waits for no other connection where nothing is missing', async () => {
    const file = newFile();
    await aStore(open(file));
    const writer = open(file);
    writer.exec('BEGIN IMMEDIATE');
    const sent: string[] = [];
    await aStore(watched(open(file), { exec: (sql) => sent.push(sql) }));
    writer.exec('ROLLBACK');
    expect(sent.filter((sql) => !/^PRAGMA busy_timeout = \d+$/.test(sql))).toEqual([]);
  });

  it('init brings a table without a version up to date, or creates it', async () => {
    const { store, handle } = await aStore();
    await store.claim(aClaim('kept'));
    handle.exec('DROP TABLE webhook_schema; DROP INDEX webhook_deliveries_expires_at');
    await store.init?.();
    expect(await store.claim(aClaim('kept'))).toMatchObject({ status: 'in_progress' });
    const names = (type: string) =>
      handle.prepare(`SELECT group_concat(name) AS names FROM sqlite_schema WHERE type = '${type}'`).get();
    expect(names('index')).toMatchObject({ names: expect.stringContaining('webhook_deliveries_expires_at') });
    expect(names('table')).toMatchObject({ names: expect.stringContaining('webhook_schema') });
    handle.exec('DROP TABLE webhook_deliveries');
    await store.init?.();
    expect(names('table')).toMatchObject({ names: expect.stringContaining('webhook_deliveries') });
  });

  it('a purge leaves time for other work after each 250 rows', async () => {
    const begun: number[] = [];
    let turns = 0;
    const exec = (sql: string) => sql === 'PRAGMA busy_timeout = 5' && begun.push(turns);
    const { store, handle } = await aStore(watched(open(newFile()), { exec }), { now: () => 2_000_000 });
    const row = `'completed', 't', 1, 1, NULL, 1000, 'f', NULL, 1000`;
    handle.exec(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1100)
       INSERT INTO webhook_deliveries SELECT 'old' || i, ${row} FROM n`,
    );
    begun.length = 0;
    const ticking = setInterval(() => {
      turns += 1;
    }, 1);
    expect(await store.purgeExpired?.({ limit: 600 })).toBe(600);
    expect(begun).toHaveLength(3);
    expect(new Set(begun).size).toBe(3);
    expect(await store.purgeExpired?.({ limit: 10_000 })).toBe(500);
    clearInterval(ticking);
  });

  it('the table keeps the newest 1,000 reports of an endpoint, and its events', async () => {
    let time = 1_000;
    const { store, handle } = await aStore(open(newFile()), { now: () => time });
    await store.claim(aClaim('clips:evt_1'));
    await store.saveReport?.({ name: 'clip', instance: 'other', text: '{}', ttlMs: 60_000 });
    handle.exec(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1100) INSERT INTO webhook_deliveries
       SELECT ':clips:' || i, 'report', NULL, 0, 0, NULL, i, '{}', NULL, 1 FROM n`,
    );
    await store.saveReport?.({ name: 'clips', instance: 'one', text: '"one"', ttlMs: 60_000 });
    const count = (state: string) =>
      handle.prepare('SELECT count(*) AS rows FROM webhook_deliveries WHERE state = ?').get(state);
    expect([count('report'), count('in_progress')]).toMatchObject([{ rows: 1_001 }, { rows: 1 }]);
    time = 1_001; // the older ones have expired
    expect(await store.loadReports?.('clips')).toHaveLength(100);
  });

  it('fences grow at one instant: after forget, and where the clock is set back', async () => {
    let time = 5_000;
    const { store } = await aStore(open(newFile()), { now: () => time });
    const fences = [(await store.claim(aClaim('a'))).fence];
    await store.forget?.('a');
    expect(await store.purgeExpired?.({ limit: 10 })).toBe(0);
    fences.push((await store.claim(aClaim('a'))).fence);
    await store.forget?.('a');
    time = 1_000;
    fences.push((await store.claim(aClaim('a'))).fence);
    expect(fences).toEqual([5_000_000, 5_000_001, 5_000_002]);
    await store.forget?.('a');
    time = 6_000;
    expect(await store.purgeExpired?.({ limit: 10 })).toBe(1);
    expect((await store.claim(aClaim('a'))).fence).toBe(6_000_000);
  });

  it('the handle is untouched before init and open after close', async () => {
    const handle = open(newFile());
    const store = storeOf(handle);
    expect(handle.prepare('SELECT count(*) AS tables FROM sqlite_schema').get()).toMatchObject({ tables: 0 });
    await store.init?.();
    await store.close?.();
    expect(await store.claim(aClaim('open'))).toMatchObject({ status: 'acquired' });
  });

  it('a store works in memory', async () => {
    const { store } = await aStore(open(':memory:'));
    expect(await store.claim(aClaim('memory'))).toMatchObject({ status: 'acquired' });
  });

  it('a store whose table has the longest name keeps jobs, and creates no table for them before', async () => {
    const table = 't'.repeat(63);
    const { store, handle } = await aStore(open(newFile()), { table });
    const tables = () => handle.prepare(`SELECT 1 FROM sqlite_schema WHERE name = '${table}_jobs'`).get() ?? undefined;
    expect(tables()).toBeUndefined();
    await store.jobs?.init?.();
    expect(tables()).toBeDefined();
    const record = { key: 'a', version: '1', text: '{}', keepMs: 1_000 };
    expect(await store.jobs?.write(record, undefined)).toBe(true);
  });

  it('a store keeps two tables of one database apart', async () => {
    const { store: orders, handle } = await aStore(open(newFile()), { table: 'orders_seen' });
    const { store: billing } = await aStore(handle, { table: 'Billing_seen' });
    await orders.claim(aClaim('same'));
    expect(await billing.claim(aClaim('same'))).toMatchObject({ status: 'acquired', attempt: 1 });
  });

  describe('while another connection writes', () => {
    async function whileWriting() {
      const file = newFile();
      const writer = open(file);
      const { store } = await aStore(open(file));
      writer.exec('BEGIN IMMEDIATE');
      vi.useFakeTimers();
      return { store, writer };
    }

    it('a claim waits until it stops in time', async () => {
      const { store, writer } = await whileWriting();
      const claim = store.claim(aClaim());
      await vi.advanceTimersByTimeAsync(1_000);
      writer.exec('COMMIT');
      await vi.advanceTimersByTimeAsync(1_000);
      expect(await claim).toMatchObject({ status: 'acquired' });
    });

    it('a claim rejects within 2 s', async () => {
      const { store, writer } = await whileWriting();
      const refused = expect(store.claim(aClaim())).rejects.toThrow(/locked/);
      await vi.advanceTimersByTimeAsync(1_999);
      await refused;
      writer.exec('ROLLBACK');
    });
  });

  it('a store reads integers from a handle that gives bigints', async () => {
    const handle = open(newFile());
    const bigints: Handle = {
      ...handle,
      exec: (sql) => handle.exec(sql),
      prepare(sql) {
        const statement = handle.prepare(sql);
        const { safeIntegers, setReadBigInts } = statement as Statement & BigIntSwitch;
        (safeIntegers ?? setReadBigInts)?.call(statement, true);
        return statement;
      },
    };
    const { store } = await aStore(bigints);
    await expectEveryAnswer(store);
    await store.jobs?.init?.();
    const record = { key: 'a', version: '1', text: '{}', dueAt: 1 };
    expect(await store.jobs?.write(record, undefined)).toBe(true);
    expect(await store.jobs?.list({ limit: 1, overdue: true })).toEqual([record]);
    expect(await store.jobs?.read('a')).toEqual({ now: expect.any(Number), record });
    const counts = { open: 1, overdue: 1, firstDueAt: 1 };
    expect(await store.jobs?.count()).toEqual({ now: expect.any(Number), ...counts });
  });
});

describe('sqliteStore', () => {
  const client = {
    betterSqlite3: { prepare: () => ({ get() {}, all: () => [], run: () => ({ changes: 0 }) }), exec() {} },
  };

  const takes = 'sqliteStore takes { betterSqlite3: db } or { nodeSqlite: db }';
  const tableIs = 'table must be a name of letters, digits and _';
  const { prepare, exec } = client.betterSqlite3;
  const wrong = [undefined, {}, { prepare }, { exec }];
  const wrongTables = [
    '',
    'a b',
    'a"b',
    'a;DROP TABLE b',
    '1a',
    'sqlite_a',
    'SQLITE_a',
    'é',
    'a'.repeat(64),
    'a.b',
    'a-b',
  ];
  itRefuses(sqliteStore, [
    ...[{}, undefined, null, { nodeSqlite: 'webhooks.db' }, { nodeSqlite: { exec } }].map(
      (other) => [other, {}, takes] as const,
    ),
    ...wrong.map((betterSqlite3) => [{ betterSqlite3 }, {}, takes] as const),
    [{ libsql: { prepare, exec } }, {}, "nknown option 'libsql' in the client of sqliteStore"],
    ...wrongTables.map((table) => [client, { table }, tableIs] as const),
    [client, { tabel: 'a' }, "nknown option 'tabel' in sqliteStore"],
    [client, { tabel: 'a' }, "id you mean 'table'?"],
    [client, { now: 5 }, 'now must be a function'],
  ]);

  it('an error names the wrong number, and nothing is sent', async () => {
    await expectRefusals(sqliteStore(client));
  });

  it.each(['a', '_', 'A1_b', 'a'.repeat(63)])('a store takes %j for a table', (table) => {
    expect(sqliteStore(client, { table }).scope).toBe('host');
  });

  describe('with a handle whose calls fail', () => {
    /** Fails so often, and then works. */
    function failing(error: unknown, times = Number.POSITIVE_INFINITY): DedupeStore {
      let failures = 0;
      const exec = () => {
        failures += 1;
        if (failures <= times) throw error;
      };
      const statement = {
        get: () => ({ timeout: 0, state: 'completed', fence: 1 }),
        all: () => [],
        run: () => ({ changes: 0 }),
      };
      const db = { exec: (sql: string) => (/^PRAGMA/.test(sql) ? undefined : exec()), prepare: () => statement };
      return sqliteStore({ betterSqlite3: db });
    }

    it.each([
      { code: 'SQLITE_BUSY' },
      { code: 'SQLITE_BUSY_SNAPSHOT' },
      { code: 'SQLITE_LOCKED' },
      { errcode: 5 },
      { errcode: 517 },
      { errcode: 6 },
    ])('a store tries again after %j', async (error) => {
      vi.useFakeTimers();
      const claim = failing(error, 2).claim(aClaim('a'));
      await vi.advanceTimersByTimeAsync(100);
      expect(await claim).toMatchObject({ status: 'completed' });
    });

    it('a store tries for 1.8 s', async () => {
      vi.useFakeTimers();
      const locked = { errcode: 5 };
      const claimed = expect(failing(locked, 181).claim(aClaim('a'))).resolves.toMatchObject({ status: 'completed' });
      const refused = expect(failing(locked, 182).claim(aClaim('a'))).rejects.toBe(locked);
      await vi.advanceTimersByTimeAsync(2_000);
      await Promise.all([claimed, refused]);
    });

    it.each([undefined, null, 'busy', { code: 'SQLITE_FULL' }, { errcode: 13 }, { code: 5 }, { errcode: '5' }])(
      'a store rethrows %j at once',
      async (error) => {
        const claim = failing(error).claim(aClaim());
        expect(await claim.catch((reason: unknown) => [reason])).toEqual([error]);
      },
    );

    it.each([
      { code: 'SQLITE_READONLY' },
      { code: 'SQLITE_READONLY_DIRECTORY' },
      { code: 'SQLITE_CANTOPEN' },
      { errcode: 8 },
      { errcode: 1_544 },
      { errcode: 14 },
    ])('a store says after %j that the database is read-only', async (error) => {
      expect(await rejection(failing(error).claim(aClaim('a')))).toMatchObject({
        code: 'store_unavailable',
        status: 503,
        message: expect.stringContaining('The SQLite database is read-only.'),
        hint: expect.stringContaining('Make the file and its directory writable'),
        cause: error,
      });
    });
  });
});
