import {
  createReceiver,
  type Delivery,
  memoryStore,
  PermanentError,
  type SecretSource,
  WebhookError,
} from 'service-webhooks';
import { describe, expect, it, vi } from 'vitest';
import { aReceiver, aRequest, aStore, refusal, SECRET } from '../support/deliveries.js';
import { memoryQueue } from '../support/memory-queue.js';
import { answerTo } from './answers.js';
import { failing, throwing } from './traps.js';

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

const ofAcme = { secret: SECRET, ...named('wh_acme') };
const ofGlobex = { secret: OTHER, ...named('wh_globex') };

describe.each([
  ['an object', tenants as SecretSource],
  ['a function', byWebhookId],
])('a receiver whose tenants are given by %s', (_, secret) => {
  it('the delivery names its tenant, and which secret of that tenant matched', async () => {
    const { receiver, handled } = handling({ secret });
    await receiver(aRequest({ event: { id: 'evt_1' }, ...ofAcme }));
    await receiver(aRequest({ event: { id: 'evt_2' }, ...ofAcme, secret: NEW }));
    await receiver(aRequest({ event: { id: 'evt_3' }, ...ofGlobex }));
    expect(handled.map(({ tenant, secretIndex }) => [tenant, secretIndex])).toEqual([
      ['acme', 1],
      ['acme', 0],
      ['globex', 0],
    ]);
  });

  it('an event is handled although another tenant has sent one with the same id', async () => {
    const { receiver, handled } = handling({ secret });
    expect(await answerTo(receiver, ofGlobex)).toBe('200 handled');
    expect(await answerTo(receiver, ofAcme)).toBe('200 handled');
    expect(handled.map(({ tenant }) => tenant)).toEqual(['globex', 'acme']);
    expect(await answerTo(receiver, ofAcme)).toBe('200 duplicate');
  });

  it('an event is a duplicate also after its tenant has rotated the secret', async () => {
    const { receiver, handled } = handling({ secret });
    await receiver(aRequest(ofAcme));
    expect(await answerTo(receiver, { ...ofAcme, secret: NEW })).toBe('200 duplicate');
    expect(handled).toHaveLength(1);
  });

  it('a queue gets two jobs for the events of two tenants with the same id', async () => {
    const queue = memoryQueue({ name: 'clips' });
    const { receiver } = aReceiver({ on: undefined, queue, secret });
    expect(await answerTo(receiver, ofGlobex)).toBe('202 queued');
    expect(await answerTo(receiver, ofAcme)).toBe('202 queued');
    expect([...queue.jobs.keys()]).toEqual(['clips:tenant=globex:evt_1', 'clips:tenant=acme:evt_1']);
  });

  it('a key function does not keep the tenant out of the key', async () => {
    const store = aStore();
    const { receiver } = handling({ secret, dedupe: { store, name: 'clips', key: ({ event }) => `of ${event.id}` } });
    await receiver(aRequest(ofAcme));
    expect(store.claims.map(({ key }) => key)).toEqual([expect.stringMatching(/^clips:sha256:[0-9a-f]{64}$/)]);
  });
});

describe('the tenant that a receiver finds for a delivery', () => {
  it.each<[string, SecretSource, object]>([
    ['no tenant', tenants, { secret: 'of a stranger' }],
    ['a tenant without secrets', byWebhookId, named('wh_unknown')],
  ])('a delivery signed for %s is refused', async (_, secret, parts) => {
    expect(await answerTo(handling({ secret }).receiver, parts)).toBe('401 signature_mismatch');
  });

  it('no header chooses the tenant', async () => {
    const { receiver, handled } = handling({ secret: tenants });
    const headers = { 'x-service-webhook-id': 'acme', 'x-service-tenant': 'acme' };
    await receiver(aRequest({ secret: OTHER, headers }));
    expect(handled[0]?.tenant).toBe('globex');
  });

  it.each<[string, SecretSource]>([
    ['has no prototype', Object.assign(Object.create(null), { tenant: SECRET, globex: OTHER })],
    ["has one tenant, named 'tenant'", { tenant: SECRET }],
    ["has two tenants, one of them named 'tenant'", { tenant: SECRET, globex: OTHER }],
    ["has two tenants, one of them named 'secrets'", { secrets: OTHER, tenant_1: SECRET }],
    ["has three tenants, two of them named 'tenant' and 'secrets'", { tenant: SECRET, secrets: OTHER, globex: NEW }],
    ['has a tenant with a name of 200 characters', { [`tenant${'x'.repeat(194)}`]: SECRET }],
  ])('the object of tenants is accepted where it %s', async (_, secret) => {
    const { receiver, handled } = handling({ secret });
    await receiver(aRequest());
    expect(handled[0]?.tenant).toMatch(/^tenant/);
  });

  it('a later change of the bytes of a secret has no effect', async () => {
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
      /^The tenants "\w+" and "\w+" have the same secret.* Give each tenant an endpoint, and so a secret, of its own\./,
    ],
    [
      'two tenants whose secrets make one HMAC key',
      { acme: new Uint8Array([200, 1]), globex: new Uint8Array([200, 1, 0]) },
      /^The tenants "acme" and "globex" have the same/,
    ],
    [
      'the result of a secret function',
      { tenant: 'acme', secrets: [SECRET] },
      /^secret has the form \{ tenant, secrets \}.* Pass \{ acme: secrets \} with the names of your tenants/,
    ],
    ['a Map', new Map([['acme', SECRET]]), /^secret is neither text nor bytes, but of type object\. /],
    ['a promise', Promise.resolve(SECRET), /^secret is neither text nor bytes, but of type object\. /],
  ])('createReceiver throws where its secret is %s', (_, secret, says) => {
    const { code, message } = refusal(() => createReceiver({ secret: secret as SecretSource, on: {} }));
    expect(code).toBe('invalid_secret');
    expect(message).toMatch(says);
    expect(message).not.toContain(SECRET);
  });

  const NOT_BOTH =
    /an object that is not \{ tenant, secrets \}\. Return a list of secrets, or an object with these two/;
  const NO_NAME = /^The name of a tenant must be a text of 1 to 200 characters\. /;

  it.each<[string, unknown, RegExp]>([
    ['an object of tenants', tenants, NOT_BOTH],
    ['a tenant without secrets', { tenant: 'acme' }, NOT_BOTH],
    ['secrets without a tenant', { secrets: [SECRET] }, NOT_BOTH],
    ['a tenant that is a number', { tenant: 7, secrets: [SECRET] }, NO_NAME],
    ['a tenant that is a list', { tenant: ['acme'], secrets: [SECRET] }, NO_NAME],
    ['a tenant without a name', { tenant: '', secrets: [SECRET] }, NO_NAME],
    ['another field', { tenant: 'acme', secrets: [SECRET], name: 'Acme' }, NOT_BOTH],
  ])('a delivery is refused where the secret function returns %s', async (_, result, says) => {
    const { receiver, handled, find } = handling({ secret: (async () => result) as SecretSource });
    expect(await answerTo(receiver)).toBe('500 invalid_secret');
    expect(find('failed').error).toMatchObject({ code: 'invalid_secret', message: expect.stringMatching(says) });
    expect(handled).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['text', SECRET],
    ['bytes', new TextEncoder().encode(SECRET)],
  ])('a secret function may return one secret as %s', async (_, secret) => {
    expect(await answerTo(handling({ secret: (async () => secret) as SecretSource }).receiver)).toBe('200 handled');
  });

  it('the outcome has the error that the secret function threw', async () => {
    const cause = new Error('no database');
    const { receiver, find } = handling({ secret: () => Promise.reject(cause) });
    expect(await answerTo(receiver)).toBe('503 secret_unavailable');
    expect(find('failed').error.cause).toBe(cause);
  });

  it('a delivery has no tenant where the secret is a list', async () => {
    const { receiver, handled } = handling({ secret: async () => [OTHER, SECRET] });
    await receiver(aRequest());
    expect(handled[0]).toMatchObject({ secretIndex: 1 });
    expect(handled[0]).not.toHaveProperty('tenant');
  });
});

describe("a receiver's dedupe.key function", () => {
  it('a queue gets an event under the key that the function returns', async () => {
    const key = ({ event, unsigned }: Delivery) => `${unsigned.webhookId}:${event.id}`;
    const queue = memoryQueue({ name: 'clips' });
    const { receiver } = aReceiver({ on: undefined, queue, dedupe: { key } });
    expect(await answerTo(receiver, named('wh_1'))).toBe('202 queued');
    expect(await answerTo(receiver, named('wh_2'))).toBe('202 queued');
    expect([...queue.jobs.keys()]).toEqual(['clips:wh_1:evt_1', 'clips:wh_2:evt_1']);
  });

  it('an exception of the function refuses the delivery, and nothing is queued', async () => {
    const put = vi.fn();
    const { receiver } = aReceiver({ on: undefined, queue: { name: 'clips', put }, dedupe: { key: throwing } });
    expect((await receiver(aRequest())).status).toBeGreaterThanOrEqual(500);
    expect(put).not.toHaveBeenCalled();
  });

  it.each([new PermanentError('no such tenant'), new WebhookError('signature_mismatch')])(
    'the answer is 500 whatever error the function throws: $code',
    async (thrown) => {
      const key = failing(thrown)['*'] as () => string;
      const { receiver, answers } = aReceiver({ dedupe: { key } });
      expect((await receiver(aRequest())).status).toBe(500);
      expect(answers()).toEqual(['failed']);
    },
  );
});

describe('one memory store shared by two receivers', () => {
  const made = (dedupe: object) => createReceiver({ secret: SECRET, on: {}, dedupe: { ...dedupe } });

  it.each<[string, (string | undefined)[]]>([
    ['neither has a name', [undefined, undefined]],
    ["only the second has a name, 'default'", [undefined, 'default']],
    ["only the first has a name, 'default'", ['default', undefined]],
  ])('the second receiver is refused where %s', (_, [first, second]) => {
    const store = memoryStore();
    made({ store, name: first });
    const { code, message } = refusal(() => made({ store, name: second }));
    expect(code).toBe('invalid_option');
    expect(message).toMatch(/^dedupe\.name is missing, here or in another .* name: 'billing'/);
  });

  it('receivers with a name are accepted, also several with the same one', () => {
    const store = memoryStore();
    for (const name of ['clips', 'billing', 'clips', 'default', 'default']) {
      expect(() => made({ store, name })).not.toThrow();
    }
  });
});
