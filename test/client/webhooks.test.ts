import { inspect } from 'node:util';
import { endpointsIn } from 'service-webhooks/client';
import { describe, expect, it } from 'vitest';
import { ENDPOINT, failureOf, SETTINGS, SIGNING_SECRET, sentTo, useApi } from './clients.js';
import { hangUp, json, refusal } from './serve-api.js';

const api = useApi();

const { url, events } = SETTINGS;
const NO_EVENTS = 'events must be a list of event types, at least one';

describe('the signing secret', () => {
  it.each<[where: string, data: object]>([
    ['next to the other fields', { ...ENDPOINT, signing_secret: SIGNING_SECRET }],
    ['deep inside the answer', { webhook: { ...ENDPOINT, keys: [{ signing_secret: SIGNING_SECRET }] } }],
  ])('reveal() alone shows the value, found %s', async (_, data) => {
    api.replies.push(json(data, 201));
    const created = await api.client.webhooks.create(SETTINGS);
    const { signingSecret } = created;
    expect(signingSecret.reveal()).toBe(SIGNING_SECRET);
    for (const value of [signingSecret, created, created.data, { nested: [created] }]) {
      const shown = [inspect(value, { depth: null, showHidden: true }), JSON.stringify(value), `${value}`].join();
      expect(shown).not.toContain(SIGNING_SECRET);
    }
    expect(`${signingSecret} ${JSON.stringify(signingSecret)} ${inspect(signingSecret)}`).toBe(
      '[signing secret, shown this once: .reveal()] "[signing secret, shown this once: .reveal()]" ' +
        '[signing secret, shown this once: .reveal()]',
    );
    expect(() => Object.assign(signingSecret, { toString: () => SIGNING_SECRET })).toThrow(TypeError);
  });

  it('the answer of client.request() hides the value', async () => {
    api.replies.push(json({ signing_secret: SIGNING_SECRET }));
    const answer = await api.client.request({ method: 'POST', path: '/x', body: {} });
    expect(inspect(answer, { depth: null })).not.toContain(SIGNING_SECRET);
  });
});

describe('client.webhooks', () => {
  it('the settings of the caller are sent', async () => {
    api.replies.push(json({ signing_secret: SIGNING_SECRET }));
    await api.client.webhooks.create(SETTINGS);
    await api.client.webhooks.update('we_1', { events: ['stt.failed'] });
    await api.client.webhooks.delete('we_1');
    expect(sentTo(api)).toEqual([
      ['POST', SETTINGS],
      ['PATCH', { events: ['stt.failed'] }],
      ['DELETE', ''],
    ]);
  });

  it.each<[method: 'create' | 'update', settings: unknown, problem: string]>([
    ['create', undefined, 'endpoint must be an object'],
    ['create', { url, event: events }, "Unknown option 'event' in endpoint. Did you mean 'events'?"],
    ['create', { events }, 'url must be a URL'],
    ['create', { url }, NO_EVENTS],
    ['create', { url, events: [] }, NO_EVENTS],
    ['create', { url, events: 'stt.failed' }, NO_EVENTS],
    ['create', { url, events: ['stt.failed', 1] }, NO_EVENTS],
    ['create', { url: '/hooks', events }, 'url must be a URL'],
    ['create', { url: new URL(url), events }, 'url must be a URL'],
    ['update', undefined, 'changes must be an object'],
    ['update', {}, 'url or events must be given'],
    ['update', { url, event: events }, "Unknown option 'event' in changes. Did you mean 'events'?"],
    ['update', { url: '/hooks' }, 'url must be a URL'],
    ['update', { url: 7 }, 'url must be a URL'],
    ['update', { events: [] }, NO_EVENTS],
  ])('%s() refuses %j', async (method, settings, problem) => {
    const { create, update } = api.client.webhooks;
    const call = method === 'create' ? create(settings as never) : update('we_1', settings as never);
    const failure = await failureOf(call);
    expect(failure).toMatchObject({ code: 'invalid_option', message: expect.stringContaining(problem) });
    expect(api.seen).toEqual([]);
  });

  it('a change is sent again after a failed connection', async () => {
    api.replies.push(hangUp);
    await api.client.webhooks.update('we_1', { events });
    expect(sentTo(api)).toEqual(Array(2).fill(['PATCH', { events }]));
  });

  it('a deletion has succeeded where its second attempt finds no endpoint', async () => {
    api.replies.push(hangUp, refusal('not_found', 404));
    expect(await api.client.webhooks.delete('we_1')).toBeUndefined();
    api.replies.push(refusal('not_found', 404));
    expect(await failureOf(api.client.webhooks.delete('we_1'))).toMatchObject({ code: 'not_found', attempts: 1 });
    api.replies.push(hangUp, refusal('forbidden', 403));
    expect(await failureOf(api.client.webhooks.delete('we_1'))).toMatchObject({ code: 'forbidden', attempts: 2 });
    api.replies.push(...Array(5).fill(hangUp));
    expect(await failureOf(api.client.webhooks.delete('we_1'))).toMatchObject({ code: 'no_connection', attempts: 5 });
  });

  it('endpointsIn finds the endpoints of a list in any layout', () => {
    const other = { ...ENDPOINT, id: 'we_2', status: 'paused' };
    for (const data of [
      [ENDPOINT, other],
      { webhooks: [ENDPOINT, other], event_types: events },
      { a: ENDPOINT, b: [[other]] },
    ]) {
      expect(endpointsIn(data)).toEqual([ENDPOINT, other]);
    }
    for (const data of [undefined, null, 'x', {}, { id: 'we_1', url }]) expect(endpointsIn(data)).toEqual([]);
    for (const odd of ['stt.failed', [1], ['stt.failed', 1], {}]) {
      expect(endpointsIn({ ...ENDPOINT, events: odd })).toEqual([]);
    }
  });
});
