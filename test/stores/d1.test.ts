import {
  type D1Database,
  type D1Reply,
  type D1Statement,
  type D1StoreOptions,
  d1Store,
} from 'service-webhooks/stores/d1';
import { storeSuite } from 'service-webhooks-suites';
import { describe, expect, it } from 'vitest';
import type { Handle } from '../integration/sqlite.js';
import { libraries, sqliteFiles } from '../integration/sqlite-libraries.js';
import { expectEveryAnswer, expectRefusals } from './every-answer.js';
import { aClaim, itRefuses } from './requests.js';

// What it does on D1 is in test/runtimes/workers-stores.test.ts; here D1 is played by a database in memory.
describe('d1Store', () => {
  const statement: D1Statement = { bind: () => statement };
  const d1: D1Database = { prepare: () => statement, batch: async () => [], exec: async () => {} };
  const { exec: _, ...session } = d1;

  const wrongTables = ['', 'a b', 'a"b', 'a;DROP TABLE b', '1a', 'sqlite_a', 'é', 'a'.repeat(64), 'a.b'];
  itRefuses(d1Store, [
    ...[{}, undefined, null, d1, { d1: undefined }, { d1: null }, { d1: 'DB' }, { DB: d1 }].map(
      (other) => [other, {}, 'd1Store'] as const,
    ),
    [{ d1: session }, {}, 'session'], // which may read from a replica that lags behind
    ...wrongTables.map((table) => [{ d1 }, { table }, 'table must be'] as const),
    [{ d1 }, { tables: 'a' }, "nknown option 'tables' in d1Store. Did you mean 'table'?"],
    [{}, {}, 'd1Store takes { d1: env.DB, the database and not a session of it }'],
  ]);

  it('an error names the wrong number, and nothing is sent', async () => {
    const batch = () => expect.unreachable('sent');
    await expectRefusals(d1Store({ d1: { ...d1, batch } }));
  });

  it('a store rejects with the error of D1', async () => {
    const broken: D1Database = { ...d1, batch: () => Promise.reject(new Error('D1_ERROR: Network connection lost.')) };
    await expect(d1Store({ d1: broken }).claim(aClaim())).rejects.toThrow('Network connection lost');
    await expect(d1Store({ d1: broken }).init?.()).rejects.toThrow('Network connection lost');
  });
});

describe.each(libraries)('d1Store on a database of %s', (_, driver) => {
  const { open } = sqliteFiles();

  async function aStore(options?: D1StoreOptions) {
    const handle = open(driver, ':memory:');
    const { d1, batches } = playD1(handle);
    const store = d1Store({ d1 }, options);
    await store.init?.();
    return { store, handle, batches };
  }

  it('each operation is answered with what the store knows of the event', async () => {
    const { store } = await aStore();
    await expectEveryAnswer(store);
    expect(store.scope).toBe('shared');
  });

  describe('passes the cases of jobs:', () => {
    const cases = storeSuite({
      async make() {
        const { store, handle } = await aStore();
        return { store, store2: d1Store({ d1: playD1(handle).d1 }) };
      },
      rounds: 5,
    });
    for (const { name, group, skip, run } of cases) if (group === 'jobs') it.skipIf(skip)(name, run);
  });

  it('init creates the table, its index and its version where they are missing', async () => {
    const { store, handle } = await aStore();
    await store.init?.();
    const { names } = handle
      .prepare("SELECT group_concat(name ORDER BY name) AS names FROM sqlite_schema WHERE name LIKE 'webhook%'")
      .get() as { names: string };
    expect(names).toBe('webhook_deliveries,webhook_deliveries_expires_at,webhook_schema');
  });

  it('a store keeps its rows in the table of its options', async () => {
    const { store, handle } = await aStore({ table: 'orders_seen' });
    await store.claim(aClaim('a'));
    expect(handle.prepare('SELECT key FROM orders_seen').get()).toMatchObject({ key: 'a' });
  });

  it('each operation is one request to D1', async () => {
    const { store, batches } = await aStore();
    const ref = { ...aClaim('a'), fence: 1 };
    const operations = [
      () => store.claim(ref),
      () => store.claim({ ...ref, token: 'other' }),
      () => store.extend(ref, ref),
      () => store.release(ref),
      () => store.complete(ref, ref),
      () => store.inspect?.('a'),
      () => store.forget?.('a'),
      () => store.purgeExpired?.({ limit: 1 }),
      () => store.jobs?.init?.(),
      () => store.jobs?.write({ key: 'a', version: '1', text: '{}', dueAt: 1 }, undefined),
      () => store.jobs?.write({ key: 'a', version: '2', text: '{}', keepMs: 1 }, 'other'),
      () => store.jobs?.read('a'),
      () => store.jobs?.list({ limit: 1, overdue: true }),
      () => store.jobs?.count(),
      () => store.jobs?.remove('a'),
      () => store.jobs?.purgeExpired({ limit: 1 }),
    ];
    for (const operation of operations) {
      batches.length = 0;
      await operation();
      expect(batches).toHaveLength(1);
    }
  });

  it('a purge returns how many rows it has removed, up to the limit', async () => {
    const { store, handle } = await aStore();
    for (const key of ['a', 'b', 'c', 'd']) await store.claim(aClaim(key));
    // A row whose fence is of this very millisecond would stay until the next one.
    handle.exec("UPDATE webhook_deliveries SET expires_at = 0, fence = 1 WHERE key <> 'd'");
    expect(await store.purgeExpired?.({ limit: 2 })).toBe(2);
    expect(await store.purgeExpired?.({ limit: 2 })).toBe(1);
    expect(await store.inspect?.('d')).toMatchObject({ state: 'in_progress' });
  });
});

interface Bound extends D1Statement {
  sql: string;
  values: unknown[];
}

/** What is used of D1: a batch is one transaction, and each of its statements gives its rows and how many it changed. */
function playD1(handle: Handle): { d1: D1Database; batches: unknown[] } {
  const batches: unknown[] = [];
  const bound = (sql: string, values: unknown[]): Bound => ({ sql, values, bind: (...more) => bound(sql, more) });
  const run = ({ sql, values }: Bound): D1Reply => {
    const statement = handle.prepare(sql);
    if (!/^\s*SELECT|\bRETURNING\b/.test(sql)) {
      return { results: [], meta: { changes: Number(statement.run(...values).changes) } };
    }
    return { results: statement.all(...values), meta: { changes: 0 } };
  };
  const d1: D1Database = {
    prepare: (sql) => bound(sql, []),
    async batch(statements) {
      batches.push(statements);
      handle.exec('BEGIN');
      const replies = (statements as Bound[]).map(run);
      handle.exec('COMMIT');
      return replies;
    },
    exec: async (sql) => handle.exec(sql),
  };
  return { d1, batches };
}
