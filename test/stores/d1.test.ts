import { type D1Client, type D1Database, type D1Statement, d1Store } from 'service-webhooks/stores/d1';
import { describe, expect, it } from 'vitest';
import { refusal, rejection } from '../support/deliveries.js';

// What it does on D1 is in test/runtimes/workers-stores.test.ts.
describe('d1Store', () => {
  const statement: D1Statement = { bind: () => statement };
  const d1: D1Database = { prepare: () => statement, batch: async () => [], exec: async () => {} };
  const { exec: _, ...session } = d1;

  it.each([{}, undefined, null, d1, { d1: undefined }, { d1: null }, { d1: 'DB' }, { DB: d1 }])(
    'refuses %j for a client',
    (other) => {
      expect(refusal(() => d1Store(other as unknown as D1Client)).code).toBe('invalid_option');
    },
  );

  it('refuses a session, which may read from a replica that lags behind', () => {
    expect(refusal(() => d1Store({ d1: session as D1Database })).message).toContain('session');
  });

  it.each(['', 'a b', 'a"b', 'a;DROP TABLE b', '1a', 'sqlite_a', 'é', 'a'.repeat(64), 'a.b'])(
    'refuses %j for a table',
    (table) => {
      expect(refusal(() => d1Store({ d1 }, { table })).code).toBe('invalid_option');
    },
  );

  it('refuses a purge without a positive limit', async () => {
    for (const limit of [0, -1, 1.5, Number.NaN]) {
      expect((await rejection(Promise.resolve(d1Store({ d1 }).purgeExpired?.({ limit })))).code).toBe('invalid_option');
    }
  });

  it('rejects with what D1 says', async () => {
    const broken: D1Database = { ...d1, batch: () => Promise.reject(new Error('D1_ERROR: Network connection lost.')) };
    const claim = { key: 'k', token: 't', fingerprint: 'f', leaseMs: 60_000, retainMs: 3_600_000 };
    await expect(d1Store({ d1: broken }).claim(claim)).rejects.toThrow('Network connection lost');
    await expect(d1Store({ d1: broken }).init?.()).rejects.toThrow('Network connection lost');
  });
});
