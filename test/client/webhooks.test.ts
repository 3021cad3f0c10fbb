import { inspect } from 'node:util';
import { endpointsIn } from 'service-webhooks/client';
import { describe, expect, it } from 'vitest';
import { clientOf, failureOf } from './clients.js';
import { hangUp, json, refusal, text, useApi } from './serve-api.js';

const api = useApi();

const SECRET = 'whsec_dont_log_me';
const URL_A = 'https://app.example/hooks';
const events = ['stt.completed', 'stt.failed'];
const endpoint = { id: 'we_1', url: URL_A, events };
const NO_EVENTS = 'events must be a list of event types, at least one';
const sent = () => api.seen.map(({ method, body }) => [method, body && JSON.parse(body)]);

describe('the signing secret', () => {
  it.each<[where: string, data: object]>([
    ['next to the other fields', { ...endpoint, signing_secret: SECRET }],
    ['deep inside the answer', { webhook: { ...endpoint, keys: [{ signing_secret: SECRET }] } }],
  ])('reveal() alone shows the value, found %s', async (_, data) => {
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

  it('the answer of client.request() hides the value', async () => {
    api.replies.push(json({ signing_secret: SECRET }));
    const answer = await clientOf(api.url).client.request({ method: 'POST', path: '/x', body: {} });
    expect(inspect(answer, { depth: null })).not.toContain(SECRET);
  });

  it('an answer that has none is an error', async () => {
    api.replies.push(json({ ...endpoint, signing_secret: null }, 201, { 'x-request-id': 'req_1' }));
    expect(await failureOf(clientOf(api.url).client.webhooks.create({ url: URL_A, events }))).toMatchObject({
      code: 'unexpected_answer',
      message: expect.stringContaining(
        'POST /api/v1/account/webhooks failed: the answer (status 201) has no signing_secret. ',
      ),
      status: 201,
      requestId: 'req_1',
      attempts: 1,
    });
  });

  it('the error about a broken answer hides the value', async () => {
    api.replies.push(text(`{"signing_secret":"${SECRET}`, 201));
    const failure = await failureOf(clientOf(api.url).client.webhooks.create({ url: URL_A, events }));
    expect(failure).toMatchObject({ code: 'not_json', nothingDone: false });
    expect(inspect(failure, { depth: null, showHidden: true })).not.toContain('whsec');
  });
});

describe('client.webhooks', () => {
  it('the settings of the caller are sent', async () => {
    const { client } = clientOf(api.url);
    api.replies.push(json({ signing_secret: SECRET }));
    await client.webhooks.create({ url: URL_A, events });
    await client.webhooks.update('we_1', { events: ['stt.failed'] });
    await client.webhooks.delete('we_1');
    expect(sent()).toEqual([
      ['POST', { url: URL_A, events }],
      ['PATCH', { events: ['stt.failed'] }],
      ['DELETE', ''],
    ]);
  });

  it.each<[what: string, settings: unknown, problem: string]>([
    ['no settings', undefined, 'endpoint must be an object'],
    ['a misspelt field', { url: URL_A, event: events }, "Unknown option 'event' in endpoint. Did you mean 'events'?"],
    ['no url', { events }, 'url must be a URL'],
    ['no events', { url: URL_A }, NO_EVENTS],
    ['an empty list of events', { url: URL_A, events: [] }, NO_EVENTS],
    ['events that are text', { url: URL_A, events: 'stt.failed' }, NO_EVENTS],
    ['an event that is a number', { url: URL_A, events: ['stt.failed', 1] }, NO_EVENTS],
    ['a path as url', { url: '/hooks', events }, 'url must be a URL'],
    ['a URL object', { url: new URL(URL_A), events }, 'url must be a URL'],
  ])('an endpoint with %s is refused', async (_, settings, problem) => {
    const { client } = clientOf(api.url);
    const failure = await failureOf(client.webhooks.create(settings as never));
    expect(failure).toMatchObject({ code: 'invalid_option', message: expect.stringContaining(problem) });
    expect(api.seen).toEqual([]);
  });

  it.each<[changes: unknown, problem: string]>([
    [undefined, 'changes must be an object'],
    [{}, 'url or events must be given'],
    [{ url: URL_A, event: events }, "Unknown option 'event' in changes. Did you mean 'events'?"],
    [{ url: '/hooks' }, 'url must be a URL'],
    [{ url: 7 }, 'url must be a URL'],
    [{ events: [] }, NO_EVENTS],
  ])('a change by %j is refused', async (changes, problem) => {
    const { client } = clientOf(api.url);
    const failure = await failureOf(client.webhooks.update('we_1', changes as never));
    expect(failure).toMatchObject({ code: 'invalid_option', message: expect.stringContaining(problem) });
    expect(api.seen).toEqual([]);
  });

  it('a change is sent again after a failed connection', async () => {
    api.replies.push(hangUp);
    await clientOf(api.url).client.webhooks.update('we_1', { events });
    expect(sent()).toEqual(Array(2).fill(['PATCH', { events }]));
  });

  it('a deletion has succeeded where its second attempt finds no endpoint', async () => {
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

  it('endpointsIn finds the endpoints of a list in any layout', () => {
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
