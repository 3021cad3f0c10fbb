import { inspect } from 'node:util';
import { endpointsIn, ensureEndpoint } from 'service-webhooks/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { clientOf, failureOf } from './clients.js';
import { type Api, breakOff, hangUp, json, refusal, serveApi, text } from './serve-api.js';

let api: Api;
beforeAll(async () => {
  api = await serveApi();
});
beforeEach(() => api.reset());
afterAll(() => api.close());

const SECRET = 'whsec_dont_log_me';
const URL_A = 'https://app.example/hooks';
const events = ['stt.completed', 'stt.failed'];
const endpoint = { id: 'we_1', url: URL_A, events };
const sent = () => api.seen.map(({ method, body }) => [method, body && JSON.parse(body)]);

describe('the signing secret', () => {
  it.each<[where: string, data: object]>([
    ['beside the other fields', { ...endpoint, signing_secret: SECRET }],
    ['further inside', { webhook: { ...endpoint, keys: [{ signing_secret: SECRET }] } }],
  ])('%s of the answer is given once, and shown nowhere', async (_, data) => {
    api.replies.push(json(data, 201));
    const created = await clientOf(api.url).client.webhooks.create({ url: URL_A, events });
    const { signingSecret } = created;
    expect(signingSecret.reveal()).toBe(SECRET);
    for (const value of [signingSecret, created, created.data, { nested: [created] }]) {
      const shown = [inspect(value, { depth: null, showHidden: true }), JSON.stringify(value), `${value}`].join();
      expect(shown).not.toContain(SECRET);
    }
    expect(`${signingSecret} ${JSON.stringify(signingSecret)} ${inspect(signingSecret)}`).toBe(
      '[signing secret, shown this once: .reveal()] "[signing secret, shown this once: .reveal()]" ' +
        '[signing secret, shown this once: .reveal()]',
    );
    expect(() => Object.assign(signingSecret, { toString: () => SECRET })).toThrow(TypeError);
  });

  it('is hidden in the answer of any other way to make an endpoint too', async () => {
    api.replies.push(json({ signing_secret: SECRET }));
    const answer = await clientOf(api.url).client.request({ method: 'POST', path: '/x', body: {} });
    expect(inspect(answer, { depth: null })).not.toContain(SECRET);
  });

  it('is missed where the answer has none', async () => {
    api.replies.push(json({ ...endpoint, signing_secret: null }, 201, { 'x-request-id': 'req_1' }));
    expect(await failureOf(clientOf(api.url).client.webhooks.create({ url: URL_A, events }))).toMatchObject({
      code: 'unexpected_answer',
      message: 'unexpected_answer: POST /api/v1/account/webhooks: 201, and no signing_secret',
      status: 201,
      requestId: 'req_1',
      attempts: 1,
    });
  });

  it('is not shown by an answer that is cut off after it', async () => {
    api.replies.push(text(`{"signing_secret":"${SECRET}`, 201));
    const failure = await failureOf(clientOf(api.url).client.webhooks.create({ url: URL_A, events }));
    expect(failure).toMatchObject({ code: 'not_json', nothingDone: false });
    expect(inspect(failure, { depth: null, showHidden: true })).not.toContain('whsec');
  });
});

describe('an endpoint', () => {
  it('is made and changed with what is given and nothing else', async () => {
    const { client } = clientOf(api.url);
    api.replies.push(json({ signing_secret: SECRET }));
    await client.webhooks.create({ url: URL_A, events, more: 1 } as never);
    await client.webhooks.update('we_1', { events: ['stt.failed'] });
    await client.webhooks.delete('we_1');
    expect(sent()).toEqual([
      ['POST', { url: URL_A, events }],
      ['PATCH', { events: ['stt.failed'] }],
      ['DELETE', ''],
    ]);
  });

  it.each<[what: string, settings: unknown, problem: string]>([
    ['nothing', undefined, 'endpoint must be an object'],
    ['no url', { events }, 'url must be a URL'],
    ['no events', { url: URL_A }, 'events must be types of events, at least one'],
    ['an empty list of events', { url: URL_A, events: [] }, 'events must be types of events, at least one'],
    ['one event', { url: URL_A, events: 'stt.failed' }, 'events must be types of events, at least one'],
    [
      'an event that is no text',
      { url: URL_A, events: ['stt.failed', 1] },
      'events must be types of events, at least one',
    ],
    ['a path', { url: '/hooks', events }, 'url must be a URL'],
    ['an address that is no text', { url: new URL(URL_A), events }, 'url must be a URL'],
  ])('is not made of %s', async (_, settings, problem) => {
    const { client } = clientOf(api.url);
    const message = `invalid_option: ${problem}`;
    expect(await failureOf(client.webhooks.create(settings as never))).toMatchObject({ message });
    expect(api.seen).toEqual([]);
  });

  it.each<[changes: unknown, problem: string]>([
    [undefined, 'changes must be an object'],
    [{}, 'url or events must be given'],
    [{ url: '/hooks' }, 'url must be a URL'],
    [{ url: 7 }, 'url must be a URL'],
    [{ events: [] }, 'events must be types of events, at least one'],
  ])('is not changed by %j', async (changes, problem) => {
    const { client } = clientOf(api.url);
    const message = `invalid_option: ${problem}`;
    expect(await failureOf(client.webhooks.update('we_1', changes as never))).toMatchObject({ message });
    expect(api.seen).toEqual([]);
  });

  it('is changed again after a failure, since the same change twice is one', async () => {
    api.replies.push(hangUp);
    await clientOf(api.url).client.webhooks.update('we_1', { events });
    expect(sent()).toEqual(Array(2).fill(['PATCH', { events }]));
  });

  it('that is gone when its deletion is sent again has been deleted', async () => {
    const { client } = clientOf(api.url);
    api.replies.push(hangUp, refusal('not_found', 404));
    expect(await client.webhooks.delete('we_1')).toBeUndefined();
    api.replies.push(refusal('not_found', 404));
    expect(await failureOf(client.webhooks.delete('we_1'))).toMatchObject({ code: 'not_found', attempts: 1 });
    api.replies.push(hangUp, refusal('forbidden', 403));
    expect(await failureOf(client.webhooks.delete('we_1'))).toMatchObject({ code: 'forbidden', attempts: 2 });
    api.replies.push(...Array(5).fill(hangUp));
    expect(await failureOf(client.webhooks.delete('we_1'))).toMatchObject({ code: 'no_connection', attempts: 5 });
  });

  it('is found in a list however it is laid out', () => {
    const other = { ...endpoint, id: 'we_2', status: 'paused' };
    for (const data of [
      [endpoint, other],
      { webhooks: [endpoint, other], event_types: events },
      { a: endpoint, b: [[other]] },
    ]) {
      expect(endpointsIn(data)).toEqual([endpoint, other]);
    }
    for (const data of [undefined, null, 'x', {}, { id: 'we_1', url: URL_A }]) expect(endpointsIn(data)).toEqual([]);
    for (const odd of ['stt.failed', [1], ['stt.failed', 1], {}]) {
      expect(endpointsIn({ ...endpoint, events: odd })).toEqual([]);
    }
  });
});

describe('ensureEndpoint', () => {
  const ensure = () => ensureEndpoint({ url: URL_A, events }, clientOf(api.url).client);

  it('makes what is not there, and reports the secret', async () => {
    api.replies.push(
      json({ webhooks: [{ ...endpoint, url: `${URL_A}/other` }] }),
      json({ ...endpoint, signing_secret: SECRET }),
    );
    const ensured = await ensure();
    expect(ensured).toMatchObject({ action: 'created', id: 'we_1' });
    expect(ensured.signingSecret?.reveal()).toBe(SECRET);
    expect(inspect(ensured)).not.toContain(SECRET);
    expect(sent()).toEqual([
      ['GET', ''],
      ['POST', { url: URL_A, events }],
    ]);
  });

  it('makes one beside what it cannot read, and where there is no list', async () => {
    api.replies.push(
      json([{ ...endpoint, url: 'hooks' }]),
      json({ signing_secret: SECRET }),
      text('', 204),
      json({ signing_secret: SECRET }),
    );
    for (const ensured of [await ensure(), await ensure()]) {
      expect(ensured).toMatchObject({ action: 'created', id: undefined });
      expect(ensured.signingSecret?.reveal()).toBe(SECRET);
    }
  });

  it('leaves what is there as it should be', async () => {
    api.replies.push(
      json({ webhooks: [{ ...endpoint, url: 'https://APP.example:443/hooks', events: events.toReversed() }] }),
    );
    expect(await ensure()).toEqual({ action: 'unchanged', id: 'we_1', others: [] });
    expect(sent()).toEqual([['GET', '']]);
  });

  it.each([[['stt.completed']], [[...events, 'dubbing.failed']], [[]]])('updates the events %j', async (had) => {
    api.replies.push(
      json([
        { ...endpoint, events: had },
        { ...endpoint, id: 'we_2' },
      ]),
    );
    expect(await ensure()).toEqual({ action: 'updated', id: 'we_1', others: ['we_2'] });
    expect(sent()[1]).toEqual(['PATCH', { events }]);
  });

  it('makes none where the list has the URL in a way that it does not understand', async () => {
    api.replies.push(json({ targets: [{ key: 'we_1', href: URL_A }] }));
    expect(await failureOf(ensure())).toMatchObject({
      message: 'unexpected_answer: the list has the URL, and no endpoint with it',
    });
    expect(api.seen).toHaveLength(1);
  });

  it.each([
    ['is cut off', breakOff],
    ['is an error', refusal('internal_error', 500)],
    ['does not come', hangUp],
  ])('says that the secret may be lost where the answer %s', async (_, reply) => {
    api.replies.push(json([]), reply);
    expect(await failureOf(ensure())).toMatchObject({
      code: 'outcome_unknown',
      hint: expect.stringContaining('Delete it'),
      cause: expect.objectContaining({ attempts: 1 }),
    });
    expect(api.seen).toHaveLength(2);
  });

  it('passes on the reason of the signal', async () => {
    const controller = new AbortController();
    api.replies.push(json([]), () => controller.abort());
    const { client } = clientOf(api.url);
    const made = ensureEndpoint({ url: URL_A, events }, client, { signal: controller.signal });
    expect(await failureOf(made)).toMatchObject({ name: 'AbortError' });
  });

  it('passes on what the service refuses', async () => {
    api.replies.push(json([]), refusal('sandbox_unsupported_route', 400));
    expect(await failureOf(ensure())).toMatchObject({ code: 'sandbox_unsupported_route' });
  });

  it.each([undefined, {}, { url: 'hooks', events }, { url: URL_A }, { url: URL_A, events: [] }])(
    'is not asked for %j',
    async (given) => {
      expect(await failureOf(ensureEndpoint(given as never, clientOf(api.url).client))).toMatchObject({
        code: 'invalid_option',
      });
      expect(api.seen).toEqual([]);
    },
  );
});
