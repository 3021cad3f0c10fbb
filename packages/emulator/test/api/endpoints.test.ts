import { verify, WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { SETTINGS, startApi, WEBHOOKS } from './client.js';

const EVENTS = 'events must be a non-empty array of event types.';

describe("webhook endpoints of the emulator's API", () => {
  it('endpoints are created, listed, changed and deleted, and only creation shows the secret', async () => {
    const { emulator, call } = startApi();
    const events = ['stt.completed', 'stt.completed'];
    const created = await call(WEBHOOKS, { method: 'POST', json: { ...SETTINGS, events, name: 'ignored' } });
    const { id, signing_secret } = created.body;
    expect([created.status, created.body]).toEqual([201, { id, ...SETTINGS, signing_secret }]);
    expect([signing_secret, emulator.endpoints.get(id)]).toMatchObject([
      expect.stringMatching(/^whsec_.{32,}$/),
      { id },
    ]);

    const change = (json: object) => call(`${WEBHOOKS}/${id}`, { method: 'PATCH', json });
    const changed = { id, url: 'https://other.example/', events: ['stt.failed'] };
    expect(await change({ events: changed.events })).toMatchObject({
      status: 200,
      body: { ...changed, url: SETTINGS.url },
    });
    expect((await change({ url: changed.url, name: 'ignored' })).body).toEqual(changed);
    expect((await change(changed)).body).toEqual(changed);
    expect((await call(WEBHOOKS)).body).toEqual({ webhooks: [changed], event_types: WEBHOOK_EVENT_TYPES });

    const deleted = await call(`${WEBHOOKS}/${id}`, { method: 'DELETE' });
    expect([deleted.status, deleted.body, emulator.endpoints.list()]).toEqual([200, { id, deleted: true }, []]);
    expect((await call(`${WEBHOOKS}/${id}`, { method: 'DELETE' })).code).toBe('not_found');
  });

  it('deliveries are signed with the same secret after the URL of the endpoint was changed', async () => {
    const { emulator, call } = startApi({ fetch: () => new Response() });
    const { id, signing_secret: secret } = (await call(WEBHOOKS, { method: 'POST', json: SETTINGS })).body;
    await call(`${WEBHOOKS}/${id}`, { method: 'PATCH', json: { url: 'https://other.example/' } });
    await emulator.emit('stt.completed');
    await emulator.settled();
    const { headers, body } = emulator.attempts.list()[0]?.request ?? expect.unreachable();
    expect(verify({ headers, body, secret, now: emulator.now }).event.type).toBe('stt.completed');
  });

  it('deleting an endpoint deletes its delivery history', async () => {
    const { emulator, call } = startApi({ fetch: () => new Response(null, { status: 500 }) });
    const { id } = emulator.endpoints.create(SETTINGS);
    await emulator.emit('stt.completed');
    await emulator.settled();
    expect((await call(`${WEBHOOKS}/${id}`, { method: 'DELETE' })).status).toBe(200);
    expect([emulator.deliveries.list(), emulator.attempts.list()]).toEqual([[], []]);
  });

  it('unknown endpoints and those of another account are not found', async () => {
    const { emulator, call } = startApi();
    const { id: account } = emulator.accounts.create();
    const { id } = emulator.endpoints.create({ ...SETTINGS, account });
    for (const path of [`${WEBHOOKS}/${id}`, `${WEBHOOKS}/wh_0`, `${WEBHOOKS}/__proto__`]) {
      for (const init of [{ method: 'PATCH', json: SETTINGS }, { method: 'DELETE' }]) {
        expect((await call(path, init)).error).toMatchObject({
          status: 404,
          code: 'not_found',
          message: 'There is no webhook endpoint with this id.',
        });
      }
    }
    expect((await call(WEBHOOKS)).body.webhooks).toEqual([]);
    expect(emulator.endpoints.get(id)?.url).toBe(SETTINGS.url);
  });

  it('a loopback URL is accepted if allowLoopback is set', async () => {
    const { call } = startApi({ allowLoopback: true });
    const json = { ...SETTINGS, url: 'http://localhost:3000/' };
    expect((await call(WEBHOOKS, { method: 'POST', json })).status).toBe(201);
  });
});

describe('the request that creates or updates an endpoint of the emulator', () => {
  it.each<[code: string, message: string, param: string | undefined, json: unknown]>([
    ['validation_error', 'url must be a string.', 'url', { events: SETTINGS.events }],
    ['validation_error', 'url must be a string.', 'url', { ...SETTINGS, url: 7 }],
    ['validation_error', 'url must begin with https://.', 'url', { ...SETTINGS, url: 'http://app.example/' }],
    ['validation_error', 'url is not public: loopback.', 'url', { ...SETTINGS, url: 'https://localhost/' }],
    ['validation_error', EVENTS, 'events', { url: SETTINGS.url }],
    ['validation_error', EVENTS, 'events', { ...SETTINGS, events: 'stt.completed' }],
    ['validation_error', EVENTS, 'events', { ...SETTINGS, events: [] }],
    ['validation_error', EVENTS, 'events', { ...SETTINGS, events: {} }],
    ['validation_error', 'events[0] is not an event type of the service.', 'events', { ...SETTINGS, events: [null] }],
    [
      'validation_error',
      'events[1] is not an event type of the service.',
      'events',
      { ...SETTINGS, events: ['stt.failed', 'stt.done'] },
    ],
    ['invalid_json', 'Body not valid JSON or wrong content type.', undefined, '{"url":'],
    ['invalid_json', 'Body not valid JSON or wrong content type.', undefined, ''],
    ['invalid_body', 'Body does not match endpoint schema.', undefined, 'null'],
    ['invalid_body', 'Body does not match endpoint schema.', undefined, '7'],
    ['invalid_body', 'Body does not match endpoint schema.', undefined, '[]'],
  ])('a body is refused with the code %s, the message "%s" and the param %s', async (code, message, param, json) => {
    const { emulator, call } = startApi();
    const { error } = await call(WEBHOOKS, { method: 'POST', json });
    expect([error.code, error.message, error.param]).toEqual([code, message, param]);
    expect(emulator.endpoints.list()).toEqual([]);
  });

  it('an invalid or empty update is refused and changes nothing', async () => {
    const { emulator, call } = startApi();
    const { signingSecret: _, ...made } = emulator.endpoints.create(SETTINGS);
    const change = async (json: unknown) => (await call(`${WEBHOOKS}/${made.id}`, { method: 'PATCH', json })).error;
    for (const json of [{}, { name: 'mine' }]) {
      expect(await change(json)).toMatchObject({ code: 'invalid_body', message: 'Give url, events or both.' });
    }
    expect(await change({ events: ['stt.failed'], url: 'x' })).toMatchObject({ param: 'url' });
    expect(await change({ url: 'https://other.example/', events: [] })).toMatchObject({ param: 'events' });
    expect(emulator.endpoints.list()).toEqual([made]);
  });

  it.each([
    ['application/json', 201],
    ['Application/JSON; charset=utf-8', 201],
    [' application/json ;x', 201],
    ['text/plain', 400],
    ['application/jsonp', 400],
    [undefined, 400],
  ])('a JSON body with the content type %s is answered with status %i', async (type, status) => {
    const body = new TextEncoder().encode(JSON.stringify(SETTINGS));
    const answer = await startApi().call(WEBHOOKS, {
      method: 'POST',
      body,
      ...(type && { headers: { 'content-type': type } }),
    });
    expect([answer.status, answer.code]).toEqual([status, status === 400 ? 'invalid_json' : undefined]);
  });

  it.each([
    ['Latin-1', [0x7b, 0x22, 0xe9, 0x22, 0x3a, 0x31, 0x7d]],
    ['UTF-8 with a byte order mark', [0xef, 0xbb, 0xbf, 0x7b, 0x7d]],
    ['no bytes', []],
    ['nothing', undefined],
  ])('a body of %s is refused as invalid JSON', async (_, bytes) => {
    const headers = { 'content-type': 'application/json' };
    const body = bytes && Uint8Array.from(bytes);
    const { code } = await startApi().call(WEBHOOKS, { method: 'POST', headers, ...(body && { body }) });
    expect(code).toBe('invalid_json');
  });

  it('a JSON body of 1 MiB is accepted, and one byte more is refused', async () => {
    const { call } = startApi();
    const padded = (length: number) => JSON.stringify(SETTINGS).padEnd(length, ' ');
    expect((await call(WEBHOOKS, { method: 'POST', json: padded(1024 * 1024) })).status).toBe(201);
    expect((await call(WEBHOOKS, { method: 'POST', json: padded(1024 * 1024 + 1) })).code).toBe('invalid_body');
  });
});
