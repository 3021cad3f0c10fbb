import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkEndpointName, deliveryKey, endpointKey, purposeKeys } from '../src/endpoint.js';
import type { Delivery } from '../src/verify/verify.js';
import { refusal } from './support/deliveries.js';

const deliveryOf = (id: string, tenant?: string): Delivery =>
  ({ event: { id }, unsigned: {}, ...(tenant !== undefined && { tenant }) }) as Delivery;

const byId = { name: 'clips', key: 'event-id' } as const;

describe('the key of a delivery in stores and queues', () => {
  it.each([
    ['an event', deliveryOf('evt_1'), 'clips:evt_1'],
    ['an event of a tenant', deliveryOf('evt_1', 'acme'), 'clips:tenant=acme:evt_1'],
    ['an event whose id resembles that of a tenant', deliveryOf('tenant=acme:evt_1'), /^clips:sha256:[0-9a-f]{64}$/],
    ['an event whose id resembles a hash', deliveryOf('sha256:evt_1'), /^clips:sha256:[0-9a-f]{64}$/],
    ['an event of a tenant with a colon', deliveryOf('evt_1', 'acme:eu'), /^clips:sha256:[0-9a-f]{64}$/],
    ['an event of a tenant with another alphabet', deliveryOf('evt_1', 'Müller'), /^clips:sha256:[0-9a-f]{64}$/],
    ['an event of a long tenant', deliveryOf('evt_1', 'x'.repeat(200)), /^clips:sha256:[0-9a-f]{64}$/],
    ['a long event of a tenant', deliveryOf(`evt_${'x'.repeat(120)}`, 'acme'), /^clips:sha256:[0-9a-f]{64}$/],
  ])('the key has the documented form for %s', async (_, delivery, expected) => {
    expect(await deliveryKey(delivery, byId)).toMatch(expected);
  });

  it('the tenant is in every key, whatever identifies the event', async () => {
    const header = { ...deliveryOf('evt_1', 'acme'), unsigned: { idempotencyKey: '"a-key"' } };
    expect(await deliveryKey(header, { name: 'clips', key: 'idempotency-key' })).toBe('clips:tenant=acme:key:a-key');
    const own = await deliveryKey(deliveryOf('evt_1', 'acme'), { name: 'clips', key: () => 'of-mine' });
    expect(own).toBe('clips:tenant=acme:of-mine');
  });

  it('an inbox uses the same key for the event', async () => {
    for (const [id, tenant] of [['evt_1'], ['evt_1', 'acme'], ['evt_é'], ['evt_é', 'Müller']] as [string, string?][]) {
      expect(await endpointKey('clips', id, tenant)).toBe(await deliveryKey(deliveryOf(id, tenant), byId));
    }
  });

  it('every key is at most 200 bytes of visible ASCII', async () => {
    const name = 'n'.repeat(64);
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'binary', minLength: 1 }),
        fc.option(fc.string({ unit: 'binary', minLength: 1 })),
        async (id, tenant) => {
          expect(await endpointKey(name, id, tenant ?? undefined)).toMatch(/^[!-~]{1,200}$/);
        },
      ),
    );
  });

  it('different tenants or identities give different keys', async () => {
    const texts = fc.oneof(
      fc.constantFrom('acme', 'tenant=acme', 'acme:evt_1', 'tenant=acme:evt_1', 'sha256:', '["acme","evt_1"]', 'evt_1'),
      fc.string({ unit: 'binary', minLength: 1 }),
    );
    const identities = fc.tuple(texts, fc.option(texts, { nil: undefined }));
    await fc.assert(
      fc.asyncProperty(identities, identities, async ([id, tenant], [otherId, otherTenant]) => {
        fc.pre(id !== otherId || tenant !== otherTenant);
        expect(await endpointKey('clips', id, tenant)).not.toBe(await endpointKey('clips', otherId, otherTenant));
      }),
    );
  });
});

it.each(['', 'with space', 'a:b', 'x'.repeat(65), 'Müller', 7, undefined])(
  '%j is refused as the name of an endpoint',
  (name) => {
    const { code, message } = refusal(() => checkEndpointName(name, 'name must be'));
    expect([code, message]).toEqual(['invalid_option', expect.stringMatching(/^name must be 1 to 64 visible ASCII/)]);
  },
);

describe('keyFor of a context', () => {
  it('the key has the endpoint, the tenant, the event and the purpose', async () => {
    expect((await purposeKeys(deliveryOf('evt_1'), 'clips'))('mail')).toBe('clips:evt_1:mail');
    expect((await purposeKeys(deliveryOf('evt_1', 'acme'), 'clips'))('mail')).toBe('clips:tenant=acme:evt_1:mail');
    expect((await purposeKeys(deliveryOf('evt_1')))('mail')).toBe('webhook:evt_1:mail');
  });

  it('two keys are equal only for the same endpoint, tenant, event and purpose, and have at most 255 characters', async () => {
    const name = fc.constantFrom('a', 'b', 'n'.repeat(64));
    const text = fc.oneof(
      fc.constantFrom('evt_1', 'evt_1:mail', 'x'.repeat(119), '\ud800'),
      fc.string({ minLength: 1 }),
    );
    const tenant = fc.option(text, { nil: undefined });
    const purpose = fc.constantFrom('mail', 'sms', 'p'.repeat(54));
    const parts = fc.tuple(name, text, tenant, purpose);
    const keyOf = async ([endpoint, id, of, what]: [string, string, string | undefined, string]) =>
      (await purposeKeys(deliveryOf(id, of), endpoint))(what);
    await fc.assert(
      fc.asyncProperty(parts, parts, async (one, other) => {
        const [key, otherKey] = [await keyOf(one), await keyOf(other)];
        expect(key).toMatch(/^[!-~]{1,255}$/);
        expect(key === otherKey).toBe(JSON.stringify(one) === JSON.stringify(other));
      }),
    );
  });

  it.each([[''], ['a b'], ['a:b'], ['x'.repeat(55)], ['é'], [undefined], [{}]])(
    'the purpose %j is refused',
    async (purpose) => {
      const keyFor = await purposeKeys(deliveryOf('evt_1'), 'clips');
      expect(refusal(() => keyFor(purpose as string)).message).toContain('keyFor() takes a purpose of 1 to 54');
    },
  );
});
