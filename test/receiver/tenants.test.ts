import {
  createReceiver,
  type Delivery,
  memoryStore,
  PermanentError,
  type SecretSource,
  WebhookError,
} from 'service-webhooks';
import { describe, expect, it, vi } from 'vitest';
import { aReceiver, aRequest, aStore, inShort, refusal, SECRET } from '../support/deliveries.js';
import { memoryQueue } from '../support/memory-queue.js';

const OTHER = 'whsec_of_the_other_tenant';
const NEW = 'whsec_of_a_rotation';
const tenants = { acme: [NEW, SECRET], globex: OTHER };

/** A receiver, and the deliveries that its handler was called with. */
function handling(options: Parameters<typeof aReceiver>[0]) {
  const handled: Delivery[] = [];
  const on = { '*': (_: unknown, { delivery }: { delivery: Delivery }) => void handled.push(delivery) };
  return { ...aReceiver({ on, ...options }), handled };
}

const byWebhookId: SecretSource = async ({ webhookId }) => {
  if (webhookId === 'wh_acme') return { tenant: 'acme', secrets: [NEW, SECRET] };
  return { tenant: 'globex', secrets: webhookId === 'wh_globex' ? [OTHER] : [] };
};
const named = (webhookId: string) => ({ headers: { 'x-service-webhook-id': webhookId } });

describe.each([
  ['as an object', tenants as SecretSource],
  ['by a function', byWebhookId],
])('a receiver with tenants, given %s', (_, secret) => {
  it('says whose secret matched, and which of that tenant', async () => {
    const { receiver, handled } = handling({ secret });
    await receiver(aRequest({ event: { id: 'evt_1' }, secret: SECRET, ...named('wh_acme') }));
    await receiver(aRequest({ event: { id: 'evt_2' }, secret: NEW, ...named('wh_acme') }));
    await receiver(aRequest({ event: { id: 'evt_3' }, secret: OTHER, ...named('wh_globex') }));
    expect(handled.map(({ tenant, secretIndex }) => [tenant, secretIndex])).toEqual([
      ['acme', 1],
      ['acme', 0],
      ['globex', 0],
    ]);
  });

  it('handles an event that another tenant has signed before under the same id', async () => {
    const { receiver, handled } = handling({ secret });
    expect(inShort(await receiver(aRequest({ secret: OTHER, ...named('wh_globex') }))).slice(0, 3)).toBe('200');
    expect(inShort(await receiver(aRequest(named('wh_acme'))))).toBe('200 handled');
    expect(handled.map(({ tenant }) => tenant)).toEqual(['globex', 'acme']);
    expect(inShort(await receiver(aRequest(named('wh_acme'))))).toBe('200 duplicate');
  });

  it('recognises an event of a tenant whose secret was rotated in between', async () => {
    const { receiver, handled } = handling({ secret });
    await receiver(aRequest({ secret: SECRET, ...named('wh_acme') }));
    expect(inShort(await receiver(aRequest({ secret: NEW, ...named('wh_acme') })))).toBe('200 duplicate');
    expect(handled).toHaveLength(1);
  });

  it('queues the events of two tenants under the same id as two, with their tenants', async () => {
    const queue = memoryQueue({ name: 'clips' });
    const { receiver } = aReceiver({ on: undefined, queue, secret });
    expect(inShort(await receiver(aRequest({ secret: OTHER, ...named('wh_globex') })))).toBe('202 queued');
    expect(inShort(await receiver(aRequest(named('wh_acme'))))).toBe('202 queued');
    expect([...queue.jobs.keys()]).toEqual(['clips:tenant=globex:evt_1', 'clips:tenant=acme:evt_1']);
  });

  it('has the tenant in the keys of its store', async () => {
    const store = aStore();
    const { receiver } = handling({ secret, dedupe: { store, name: 'clips', key: ({ event }) => `of ${event.id}` } });
    await receiver(aRequest(named('wh_acme')));
    expect(store.claims.map(({ key }) => key)).toEqual([expect.stringMatching(/^clips:sha256:[0-9a-f]{64}$/)]);
  });
});

describe('a receiver with tenants', () => {
  it('refuses a delivery of none of them', async () => {
    const { receiver } = handling({ secret: tenants });
    expect(inShort(await receiver(aRequest({ secret: 'of a stranger' })))).toBe('401 signature_mismatch');
  });

  it('refuses a tenant without secrets', async () => {
    const { receiver } = handling({ secret: byWebhookId });
    expect(inShort(await receiver(aRequest(named('wh_unknown'))))).toBe('401 signature_mismatch');
  });

  it('takes no tenant from a header', async () => {
    const { receiver, handled } = handling({ secret: tenants });
    await receiver(
      aRequest({ secret: OTHER, headers: { 'x-service-webhook-id': 'acme', 'x-service-tenant': 'acme' } }),
    );
    expect(handled[0]?.tenant).toBe('globex');
  });

  it('copies the bytes of its secrets', async () => {
    const bytes = new TextEncoder().encode(SECRET);
    const { receiver, handled } = handling({ secret: { acme: bytes } });
    bytes.fill(0);
    await receiver(aRequest());
    expect(handled[0]?.tenant).toBe('acme');
  });

  it.each<[string, unknown, RegExp]>([
    ['no tenant', {}, /^secret is an object without tenants\. /],
    ['a tenant without a name', { '': SECRET }, /^The name of a tenant must be a text of 1 to 200 characters\. /],
    ['a tenant with a long name', { ['x'.repeat(201)]: SECRET }, /^The name of a tenant must be a text of 1 to 200/],
    ['a tenant without a secret', { acme: undefined }, /^secret\["acme"\] is undefined\. /],
    ['a tenant with an empty secret', { acme: [SECRET, ''] }, /^secret\["acme"\]\[1\] is empty\. /],
    ['a tenant with an empty list', { acme: [] }, /^secret\["acme"\] is an empty list\. /],
    ['tenants within a tenant', { acme: { eu: SECRET } }, /^secret\["acme"\] is neither text nor bytes/],
    [
      'two tenants with one secret',
      { acme: SECRET, globex: ['other', SECRET] },
      /^The tenants "\w+" and "\w+" have the same/,
    ],
    [
      'two tenants whose secrets make one HMAC key',
      { acme: new Uint8Array([200, 1]), globex: new Uint8Array([200, 1, 0]) },
      /^The tenants "acme" and "globex" have the same/,
    ],
    [
      'the result of a secret function',
      { tenant: 'acme', secrets: [SECRET] },
      /^secret has the form \{ tenant, secrets \}/,
    ],
    ['a Map', new Map([['acme', SECRET]]), /^secret is neither text nor bytes, but of type object\. /],
    ['a promise', Promise.resolve(SECRET), /^secret is neither text nor bytes, but of type object\. /],
  ])('is not made with %s', (_, secret, says) => {
    const { code, message } = refusal(() => createReceiver({ secret: secret as SecretSource, on: {} }));
    expect(code).toBe('invalid_secret');
    expect(message).toMatch(says);
    expect(message).not.toContain(SECRET);
  });

  it.each<[string, unknown]>([
    ['an object of tenants', tenants],
    ['a tenant without secrets', { tenant: 'acme' }],
    ['secrets without a tenant', { secrets: [SECRET] }],
    ['a tenant that is no text', { tenant: 7, secrets: [SECRET] }],
    ['a tenant without a name', { tenant: '', secrets: [SECRET] }],
    ['another field', { tenant: 'acme', secrets: [SECRET], name: 'Acme' }],
  ])('handles nothing where its secret function returns %s', async (_, result) => {
    const { receiver, handled, find } = handling({ secret: (async () => result) as SecretSource });
    expect(inShort(await receiver(aRequest())).slice(0, 3)).toBe('500');
    expect(find('failed').error.code).toBe('invalid_secret');
    expect(handled).toEqual([]);
  });

  it('still takes a list from its secret function, and then knows no tenant', async () => {
    const { receiver, handled } = handling({ secret: async () => [OTHER, SECRET] });
    await receiver(aRequest());
    expect(handled[0]).toMatchObject({ secretIndex: 1 });
    expect(handled[0]).not.toHaveProperty('tenant');
  });
});

describe('the key of the user', () => {
  const key = ({ event, unsigned }: Delivery) => `${unsigned.webhookId}:${event.id}`;

  it('is the identity of an event also in a queue', async () => {
    const queue = memoryQueue({ name: 'clips' });
    const { receiver } = aReceiver({ on: undefined, queue, dedupe: { key } });
    expect(inShort(await receiver(aRequest(named('wh_1'))))).toBe('202 queued');
    expect(inShort(await receiver(aRequest(named('wh_2'))))).toBe('202 queued');
    expect([...queue.jobs.keys()]).toEqual(['clips:wh_1:evt_1', 'clips:wh_2:evt_1']);
  });

  it('that throws refuses the delivery and puts nothing into the queue', async () => {
    const put = vi.fn();
    const throws = () => {
      throw new Error('no such tenant');
    };
    const { receiver } = aReceiver({ on: undefined, queue: { name: 'clips', put }, dedupe: { key: throws } });
    expect(inShort(await receiver(aRequest())).slice(0, 2)).toBe('50');
    expect(put).not.toHaveBeenCalled();
  });

  it.each([new PermanentError('no such tenant'), new WebhookError('signature_mismatch')])(
    'that throws $code does not decide about the delivery by it',
    async (thrown) => {
      const throws = () => {
        throw thrown;
      };
      const { receiver, answers } = aReceiver({ dedupe: { key: throws } });
      expect((await receiver(aRequest())).status).toBe(500);
      expect(answers()).toEqual(['failed']);
    },
  );
});

describe('one memory store for two receivers', () => {
  const made = (dedupe: object) => createReceiver({ secret: SECRET, on: {}, dedupe: { ...dedupe } });

  it('is refused without names, because each would take the events of the other for duplicates', () => {
    const store = memoryStore();
    made({ store });
    const { code, message } = refusal(() => made({ store }));
    expect(code).toBe('invalid_option');
    expect(message).toMatch(/^dedupe\.name is missing, here or in another .* name: 'billing'/);
  });

  it.each([
    ['first', [undefined, 'default']],
    ['second', ['default', undefined]],
  ])('is refused where the %s has no name and the other has the name that is the default', (_, [first, second]) => {
    const store = memoryStore();
    made({ store, name: first });
    expect(refusal(() => made({ store, name: second })).message).toMatch(/^dedupe\.name is missing/);
  });

  it('is accepted with names, also where both are receivers of one endpoint', () => {
    const store = memoryStore();
    for (const name of ['clips', 'billing', 'clips', 'default', 'default'])
      expect(() => made({ store, name })).not.toThrow();
  });
});
