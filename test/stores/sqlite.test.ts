import type { DedupeStore } from 'service-webhooks';
import { type SqliteClient, type SqliteStoreOptions, sqliteStore } from 'service-webhooks/stores/sqlite';
import { describe, expect, it, vi } from 'vitest';
import { type StoreUnderTest, storeSuite } from '../../src/testing/index.js';
import { clientOf, type Handle, type Statement } from '../integration/sqlite.js';
import { librariesOfThisNode, sqliteFiles } from '../integration/sqlite-libraries.js';
import { refusal, rejection } from '../support/deliveries.js';
import { expectEveryAnswer, expectRefusals } from './every-answer.js';

/** How a statement is told to read integers as bigint. */
type BigIntSwitch = { [name in 'safeIntegers' | 'setReadBigInts']?: (on: boolean) => unknown };

const { newFile, open: openFile } = sqliteFiles();

describe.each(librariesOfThisNode)('sqliteStore on %s', (_, driver) => {
  const open = (file: string, timeout?: number) => openFile(driver, file, timeout);

  function storeOf(handle: Handle, options?: SqliteStoreOptions): DedupeStore {
    return sqliteStore(clientOf(driver, handle), options);
  }

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
    for (const { name, skip, run } of cases) it.skipIf(skip)(name, run, 30_000);
  });

  it('answers each operation with what it knows of the event, for all processes of the host', async () => {
    const store = storeOf(open(newFile()));
    await store.init?.();
    await expectEveryAnswer(store);
    expect(store.scope).toBe('host');
  });

  it('sets the journal to WAL, and a busy timeout where there is none', async () => {
    const handle = open(newFile());
    await storeOf(handle).init?.();
    expect(handle.prepare('PRAGMA journal_mode').get()).toMatchObject({ journal_mode: 'wal' });
    expect(handle.prepare('PRAGMA busy_timeout').get()).toMatchObject({ timeout: 1_000 });
  });

  it('prepares each statement once, and reads the setting of the handle once', async () => {
    const handle = open(newFile());
    const prepared: string[] = [];
    const store = storeOf({
      ...handle,
      exec: (sql) => handle.exec(sql),
      prepare(sql) {
        prepared.push(sql);
        return handle.prepare(sql);
      },
    });
    await store.init?.();
    await store.claim(claimOf('first'));
    prepared.length = 0;
    expect(await store.claim(claimOf('second'))).toMatchObject({ status: 'acquired' });
    expect(prepared).toEqual([]);
  });

  it('leaves a longer busy timeout as it is', async () => {
    const handle = open(newFile(), 3_000);
    await storeOf(handle).init?.();
    expect(handle.prepare('PRAGMA busy_timeout').get()).toMatchObject({ timeout: 3_000 });
  });

  it('keeps what is there when it is initialised again, by several at once', async () => {
    const file = newFile();
    const [store, second, third] = [storeOf(open(file)), storeOf(open(file)), storeOf(open(file))] as const;
    await Promise.all([store.init?.(), second.init?.(), third.init?.()]);
    await store.claim(claimOf('kept'));
    await Promise.all([store.init?.(), second.init?.(), third.init?.()]);
    expect(await second.claim(claimOf('kept', 'other'))).toMatchObject({ status: 'in_progress', fence: 1 });
  });

  it('does nothing before it is told to, and leaves the handle open', async () => {
    const handle = open(newFile());
    const store = storeOf(handle);
    expect(handle.prepare('SELECT count(*) AS tables FROM sqlite_schema').get()).toMatchObject({ tables: 0 });
    await store.init?.();
    await store.close?.();
    expect(await store.claim(claimOf('open'))).toMatchObject({ status: 'acquired' });
  });

  it('works in memory', async () => {
    const store = storeOf(open(':memory:'));
    await store.init?.();
    expect(await store.claim(claimOf('memory'))).toMatchObject({ status: 'acquired' });
  });

  it('keeps two tables of one database apart', async () => {
    const handle = open(newFile());
    const [orders, billing] = [storeOf(handle, { table: 'orders_seen' }), storeOf(handle, { table: 'Billing_seen' })];
    await orders.init?.();
    await billing.init?.();
    await orders.claim(claimOf('same'));
    expect(await billing.claim(claimOf('same', 'other'))).toMatchObject({ status: 'acquired', fence: 1 });
  });

  it('waits for a writer that lets go in time', async () => {
    const file = newFile();
    const [writer, handle] = [open(file), open(file)];
    const store = storeOf(handle);
    await store.init?.();
    writer.exec('BEGIN IMMEDIATE');
    vi.useFakeTimers();
    const claim = store.claim(claimOf('patient'));
    await vi.advanceTimersByTimeAsync(1_000);
    writer.exec('COMMIT');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await claim).toMatchObject({ status: 'acquired' });
  });

  it('gives up on a writer that does not let go before the receiver would', async () => {
    const file = newFile();
    const [writer, handle] = [open(file), open(file)];
    const store = storeOf(handle);
    await store.init?.();
    writer.exec('BEGIN IMMEDIATE');
    vi.useFakeTimers();
    const refused = expect(store.claim(claimOf('impatient'))).rejects.toThrow(/locked/);
    await vi.advanceTimersByTimeAsync(1_999);
    await refused;
    writer.exec('ROLLBACK');
  });

  it('reads integers from a handle that gives bigints', async () => {
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
    const store = storeOf(bigints);
    await store.init?.();
    const claim = await store.claim(claimOf('bigint'));
    expect(claim).toMatchObject({ status: 'acquired', fence: 1, attempt: 1 });
    expect(await store.claim(claimOf('bigint', 'other'))).toMatchObject({ retryAfterMs: expect.any(Number) });
    expect(await store.inspect?.('bigint')).toMatchObject({ fence: 1, leaseMsLeft: expect.any(Number) });
    expect(await store.purgeExpired?.({ limit: 1 })).toBe(0);
  });
});

describe('sqliteStore', () => {
  const client = { betterSqlite3: { prepare: () => ({ get() {}, run: () => ({ changes: 0 }) }), exec() {} } };

  it.each([
    {},
    undefined,
    null,
    { betterSqlite3: undefined },
    { betterSqlite3: {} },
    { betterSqlite3: { prepare() {} } },
    { betterSqlite3: { exec() {} } },
    { nodeSqlite: 'webhooks.db' },
    { libsql: { prepare() {}, exec() {} } },
  ])('refuses %j for a client', (other) => {
    expect(refusal(() => sqliteStore(other as unknown as SqliteClient)).message).toBe(
      'invalid_option: client must be { betterSqlite3: db } or { nodeSqlite: db }',
    );
  });

  it('says which number is wrong, and asks for nothing', async () => {
    await expectRefusals(sqliteStore(client));
  });

  it.each(['', 'a b', 'a"b', 'a;DROP TABLE b', '1a', 'sqlite_a', 'SQLITE_a', 'é', 'a'.repeat(64), 'a.b', 'a-b'])(
    'refuses %j for a table',
    (table) => {
      expect(refusal(() => sqliteStore(client, { table })).message).toBe(
        'invalid_option: table must be a name of letters, digits and _',
      );
    },
  );

  it.each(['a', '_', 'A1_b', 'a'.repeat(63)])('takes %j for a table', (table) => {
    expect(sqliteStore(client, { table }).scope).toBe('host');
  });

  it('refuses a clock that is none', () => {
    expect(refusal(() => sqliteStore(client, { now: 5 as never })).message).toBe(
      'invalid_option: now must be a function',
    );
  });

  describe('with a handle whose calls fail', () => {
    /** Fails so often, and then works. */
    function failing(error: unknown, times = Number.POSITIVE_INFINITY): DedupeStore {
      let failures = 0;
      const exec = () => {
        failures += 1;
        if (failures <= times) throw error;
      };
      const statement = { get: () => ({ timeout: 0, state: 'completed', fence: 1 }), run: () => ({ changes: 0 }) };
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
    ])('tries again after %j', async (error) => {
      vi.useFakeTimers();
      const claim = failing(error, 2).claim(claimOf('a'));
      await vi.advanceTimersByTimeAsync(100);
      expect(await claim).toMatchObject({ status: 'completed' });
    });

    it('tries for 1.8 s, and once after that', async () => {
      vi.useFakeTimers();
      const locked = { errcode: 5 };
      const claimed = expect(failing(locked, 181).claim(claimOf('a'))).resolves.toMatchObject({ status: 'completed' });
      const refused = expect(failing(locked, 182).claim(claimOf('a'))).rejects.toBe(locked);
      await vi.advanceTimersByTimeAsync(2_000);
      await Promise.all([claimed, refused]);
    });

    it.each([undefined, null, 'busy', { code: 'SQLITE_FULL' }, { errcode: 13 }, { code: 5 }, { errcode: '5' }])(
      'passes on %j at once',
      async (error) => {
        expect(
          await failing(error)
            .claim(claimOf('a'))
            .catch((reason: unknown) => [reason]),
        ).toEqual([error]);
      },
    );

    it.each([
      { code: 'SQLITE_READONLY' },
      { code: 'SQLITE_READONLY_DIRECTORY' },
      { code: 'SQLITE_CANTOPEN' },
      { errcode: 8 },
      { errcode: 1_544 },
      { errcode: 14 },
    ])('says after %j that the database is read-only', async (error) => {
      expect(await rejection(failing(error).claim(claimOf('a')))).toMatchObject({
        code: 'store_unavailable',
        status: 503,
        message: 'store_unavailable: the database is read-only',
        hint: expect.stringContaining('must be writable'),
        cause: error,
      });
    });
  });
});

function claimOf(key: string, token = 'owner') {
  return { key, token, fingerprint: 'f', alias: undefined, leaseMs: 60_000, retainMs: 3_600_000 };
}
