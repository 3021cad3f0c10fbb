import { type DurableObjectClient, durableObjectStore } from 'service-webhooks/stores/durable-object';
import { describe, expect, it } from 'vitest';
import { refusal, rejection } from '../support/deliveries.js';

// What it does on Durable Objects is in test/runtimes/workers-stores.test.ts.
describe('durableObjectStore', () => {
  const claim = { key: 'k', token: 't', fingerprint: 'f', leaseMs: 60_000, retainMs: 3_600_000 };
  const namespaceOf = (fetch: () => Promise<Response>) => ({
    idFromName: (name: string) => name,
    get: () => ({ fetch }),
  });
  const namespace = namespaceOf(async () => Response.json(null));

  it.each([
    {},
    undefined,
    null,
    namespace,
    { namespace: undefined },
    { namespace: null },
    { namespace: 'DEDUPE' },
    { namespace: { get() {} } },
    { durableObject: namespace },
  ])('refuses %j for a client', (other) => {
    expect(refusal(() => durableObjectStore(other as unknown as DurableObjectClient)).code).toBe('invalid_option');
  });

  it('says what to bind where the objects are of another class', async () => {
    const other = namespaceOf(async () => new Response('not found', { status: 404 }));
    const error = await rejection(durableObjectStore({ namespace: other }).claim(claim));
    expect(error).toMatchObject({ code: 'store_unavailable', hint: expect.stringContaining('DedupeObject') });
    expect(error.message).toContain('404');
  });

  it('rejects with what the platform says', async () => {
    const broken = namespaceOf(() => Promise.reject(new Error('Network connection lost.')));
    await expect(durableObjectStore({ namespace: broken }).release({ ...claim, fence: 1 })).rejects.toThrow('lost');
  });
});
