import { WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { createEmulator, type Emulator, type EmulatorOptions, type Script } from 'service-webhooks-emulator';
import { afterEach, describe, expect, it } from 'vitest';
import { exchange } from '../../../test/support/raw-http.js';

const START = Date.UTC(2026, 6, 11, 23, 59, 0);
const WEBHOOKS = '/api/v1/account/webhooks';
const LIMITS = '/api/v1/account/api-limits';

let emulator: Emulator;
let url: string;
let port: number;
afterEach(() => emulator.close());

async function start(options: EmulatorOptions = {}) {
  emulator = createEmulator({ startAt: START, seed: 'api', ...options });
  ({ url, port } = await emulator.listen());
}

async function call(path: string, { key = emulator.apiKey, ...init }: RequestInit & { key?: string | null } = {}) {
  const headers = { ...(key !== null && { authorization: `Bearer ${key}` }), ...init.headers };
  const response = await fetch(url + path, { ...init, headers });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}

const json = (method: string, body: unknown) => ({
  method,
  headers: { 'content-type': 'application/json' },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});
const code = ({ body }: Awaited<ReturnType<typeof call>>) => body.error.code;
const settings = { url: 'https://app.example/hooks', events: ['stt.completed'] };

describe('API keys', () => {
  it.each([
    ['Authorization: Bearer', (key: string) => ({ authorization: `Bearer ${key}` })],
    ['service-api-key', (key: string) => ({ 'service-api-key': key })],
    ['x-api-key', (key: string) => ({ 'x-api-key': key })],
  ])('the API reads the key from %s', async (_, headers) => {
    await start();
    expect((await call(LIMITS, { key: null, headers: headers(emulator.apiKey) })).status).toBe(200);
    expect(code(await call(LIMITS, { key: null, headers: headers('acct_unknown_key') }))).toBe('invalid_api_key');
  });

  it.each([
    ['none', null, 'missing_api_key'],
    ['an empty one', '', 'missing_api_key'],
    ['a malformed one', 'secret', 'invalid_api_key'],
    ['an unknown one', 'acct_0123456789abcdef', 'invalid_api_key'],
  ])('%s is refused with 401', async (_, key, expected) => {
    await start();
    const answer = await call(LIMITS, { key });
    expect([answer.status, code(answer)]).toEqual([401, expected]);
    expect(answer.body.error.type).toBe('authentication_error');
  });

  it('a revoked key fails at once', async () => {
    await start();
    const key = emulator.keys.create();
    expect((await call(LIMITS, { key })).status).toBe(200);
    emulator.keys.revoke(key);
    expect(code(await call(LIMITS, { key }))).toBe('invalid_api_key');
  });

  it('each route requires its scope, and the limits require none', async () => {
    await start();
    const key = emulator.keys.create({ scopes: ['webhooks:read'] });
    expect((await call(LIMITS, { key })).status).toBe(200);
    expect((await call(WEBHOOKS, { key })).status).toBe(200);
    const refused = await call(WEBHOOKS, { key, ...json('POST', settings) });
    expect([refused.status, code(refused)]).toEqual([403, 'insufficient_scope']);
    expect(code(await call('/api/v1/usage', { key }))).toBe('insufficient_scope');
  });

  it('a sandbox key reads but does not write, and its answers are marked', async () => {
    await start();
    const key = emulator.keys.create({ kind: 'sandbox' });
    const list = await call(WEBHOOKS, { key });
    expect([list.status, list.headers.get('x-service-sandbox')]).toEqual([200, 'true']);
    for (const [path, init] of [
      [WEBHOOKS, json('POST', settings)],
      [`${WEBHOOKS}/wh_1`, json('PATCH', settings)],
      [`${WEBHOOKS}/wh_1`, { method: 'DELETE' }],
    ] as const) {
      const answer = await call(path, { key, ...init });
      expect([answer.status, code(answer)]).toEqual([400, 'sandbox_unsupported_route']);
      expect(answer.headers.get('x-service-sandbox')).toBe('true');
    }
    expect((await call(WEBHOOKS)).headers.get('x-service-sandbox')).toBe(null);
  });

  it('a key of a plan that lost API access still authenticates, and every call is refused', async () => {
    await start();
    emulator.accounts.update(emulator.accounts.list()[0]?.id ?? '', { plan: 'FREE' });
    for (const path of [LIMITS, WEBHOOKS, '/api/v1/usage']) {
      const answer = await call(path);
      expect([answer.status, code(answer)]).toEqual([403, 'plan_limit_exceeded']);
    }
  });

  it('these routes refuse a platform key', async () => {
    await start();
    const key = emulator.keys.create({ kind: 'platform' });
    expect(key).toMatch(/^plat_/);
    expect(code(await call(LIMITS, { key }))).toBe('invalid_api_key');
  });

  it('an account cannot have more keys than its plan allows', async () => {
    await start({ account: { plan: 'CREATOR' } });
    emulator.keys.create();
    expect(() => emulator.keys.create()).toThrow('the account has its 2 keys');
    emulator.keys.create({ kind: 'sandbox' });
    expect(() => emulator.keys.create({ kind: 'sandbox' })).toThrow('one sandbox key');
  });

  it('every request from a denied address is answered with ip_blocked', async () => {
    await start({ deniedIps: ['127.0.0.1'] });
    expect(code(await call(LIMITS))).toBe('ip_blocked');
  });
});

describe('webhook endpoints of the API', () => {
  it('the secret of an endpoint is shown once, on creation, and kept on update', async () => {
    await start({ allowLoopback: true });
    const created = await call(WEBHOOKS, json('POST', settings));
    const { id, signing_secret: secret } = created.body;
    expect([created.status, created.body]).toEqual([201, { id, ...settings, signing_secret: secret }]);
    expect(secret).toMatch(/^.{32,}$/);
    const changed = await call(`${WEBHOOKS}/${id}`, json('PATCH', { events: ['stt.failed'] }));
    expect([changed.status, changed.body]).toEqual([200, { id, url: settings.url, events: ['stt.failed'] }]);
    const listed = await call(WEBHOOKS);
    expect(listed.body.webhooks).toEqual([changed.body]);
    expect(listed.body.event_types).toEqual(WEBHOOK_EVENT_TYPES);
    expect(JSON.stringify([changed.body, listed.body])).not.toContain(secret);
  });

  it('deleting an endpoint deletes its delivery history', async () => {
    await start({ fetch: () => new Response(null, { status: 500 }) });
    const { body } = await call(WEBHOOKS, json('POST', settings));
    await emulator.emit('stt.completed');
    await emulator.settled();
    expect((await call(`${WEBHOOKS}/${body.id}`, { method: 'DELETE' })).status).toBe(200);
    expect(emulator.attempts.list()).toEqual([]);
    expect(code(await call(`${WEBHOOKS}/${body.id}`, { method: 'DELETE' }))).toBe('not_found');
  });

  it('the endpoint of another account is not found', async () => {
    await start();
    const { id: account } = emulator.accounts.create();
    const { body } = await call(WEBHOOKS, json('POST', settings));
    const key = emulator.keys.create({ account });
    expect((await call(WEBHOOKS, { key })).body.webhooks).toEqual([]);
    expect(code(await call(`${WEBHOOKS}/${body.id}`, { key, ...json('PATCH', settings) }))).toBe('not_found');
    expect(code(await call(`${WEBHOOKS}/${body.id}`, { key, method: 'DELETE' }))).toBe('not_found');
  });

  it.each([
    [{ events: ['stt.completed'] }, 'validation_error', 'url'],
    [{ url: settings.url }, 'validation_error', 'events'],
    [{ ...settings, events: [] }, 'validation_error', 'events'],
    [{ ...settings, events: 'stt.completed' }, 'validation_error', 'events'],
    [{ ...settings, events: ['stt.done'] }, 'validation_error', 'events'],
    [{ ...settings, events: [null] }, 'validation_error', 'events'],
    [{ ...settings, url: 'http://app.example/' }, 'validation_error', 'url'],
    [{ ...settings, url: 'https://127.0.0.1/' }, 'validation_error', 'url'],
    [{ ...settings, url: 7 }, 'validation_error', 'url'],
    ['[]', 'invalid_body', undefined],
    ['null', 'invalid_body', undefined],
    ['{"url":', 'invalid_json', undefined],
    ['', 'invalid_json', undefined],
  ])('the body %j is refused with %s and the param %s', async (body, expected, param) => {
    await start();
    const answer = await call(WEBHOOKS, json('POST', body));
    expect([code(answer), answer.body.error.param]).toEqual([expected, param]);
    expect(emulator.endpoints.list()).toEqual([]);
  });

  it('an empty update is refused', async () => {
    await start();
    const { body } = await call(WEBHOOKS, json('POST', settings));
    expect(code(await call(`${WEBHOOKS}/${body.id}`, json('PATCH', {})))).toBe('invalid_body');
  });

  it('a body with another content type than JSON is refused', async () => {
    await start();
    const init = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: JSON.stringify(settings) };
    expect(code(await call(WEBHOOKS, init))).toBe('invalid_json');
    const latin1 = { ...json('POST', ''), body: new Uint8Array([0x7b, 0x22, 0xe9, 0x22, 0x3a, 0x31, 0x7d]) };
    expect(code(await call(WEBHOOKS, latin1))).toBe('invalid_json');
  });

  it('allowLoopback allows a loopback URL', async () => {
    await start({ allowLoopback: true });
    expect((await call(WEBHOOKS, json('POST', { ...settings, url: 'http://localhost:3000/' }))).status).toBe(201);
  });
});

describe('API limits', () => {
  it('api-limits reports the limits of the plan and their use', async () => {
    await start({ account: { plan: 'STANDARD', creditsRemaining: 7 } });
    const { body, headers } = await call(LIMITS);
    expect(body).toEqual({
      plan: { type: 'STANDARD', name: 'Standard', api_access: true },
      credits: { remaining: 7, monthly_allocation: expect.any(Number) },
      limits: {
        rate_limit_per_minute: 60,
        daily_request_limit: 10_000,
        daily_requests_used: 1,
        daily_requests_remaining: 9_999,
        max_keys_per_account: 3,
      },
    });
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-ratelimit-limit': '60',
      'x-ratelimit-remaining': '59',
      'x-ratelimit-reset': String((START + 60_000) / 1000),
      'x-daily-requests-limit': '10000',
      'x-daily-requests-used': '1',
      'x-credits-remaining': '7',
      'x-plan': 'STANDARD',
      'x-request-id': expect.stringMatching(/^req_/),
    });
  });

  it('the limit per minute clears all at once, 60 s after the first request', async () => {
    await start({ account: { requestsPerMinute: 2 } });
    await call(LIMITS);
    await emulator.advance(59_000);
    await call(LIMITS);
    const refused = await call(LIMITS);
    expect([refused.status, code(refused), refused.headers.get('retry-after')]).toEqual([
      429,
      'rate_limit_exceeded',
      '1',
    ]);
    await emulator.advance(1_000);
    expect((await call(LIMITS)).headers.get('x-ratelimit-remaining')).toBe('1');
  });

  it('the limit per day resets at 00:00 UTC', async () => {
    await start({ account: { requestsPerDay: 1 } });
    await call(LIMITS);
    const refused = await call(LIMITS);
    expect([refused.status, code(refused), refused.headers.get('retry-after')]).toEqual([
      429,
      'daily_limit_exceeded',
      '60',
    ]);
    await emulator.advance(60_000);
    expect((await call(LIMITS)).headers.get('x-daily-requests-used')).toBe('1');
  });

  it('limits count per account, not per key', async () => {
    await start();
    await call(LIMITS, { key: emulator.keys.create() });
    expect((await call(LIMITS)).body.limits.daily_requests_used).toBe(2);
  });

  it('every answer has the rate headers, also a refusal', async () => {
    await start();
    for (const answer of [await call(LIMITS, { key: null }), await call('/nowhere'), await call(WEBHOOKS)]) {
      for (const name of ['x-ratelimit-limit', 'x-daily-requests-used', 'x-credits-remaining', 'x-plan']) {
        expect(answer.headers.get(name), name).not.toBe(null);
      }
    }
  });
});

describe('API errors', () => {
  it('an error is the object of the specification, with an id of its own', async () => {
    await start();
    const [one, two] = [await call('/api/v1/nothing'), await call('/api/v1/nothing')];
    expect(one.body).toEqual({
      error: {
        type: 'invalid_request_error',
        code: 'unknown_endpoint',
        message: expect.stringMatching(/\w/),
        status: 404,
        request_id: one.headers.get('x-request-id'),
        doc_url: `${url}/docs/errors/unknown_endpoint`,
      },
    });
    expect(one.body.error.request_id).not.toBe(two.body.error.request_id);
  });

  it.each([
    [`${LIMITS}/`, 'GET'],
    [LIMITS.toUpperCase(), 'GET'],
    [LIMITS, 'DELETE'],
    [`${WEBHOOKS}/a/b`, 'DELETE'],
    ['/', 'GET'],
    ['/__proto__', 'GET'],
  ])('the path %s with the method %s is an unknown_endpoint', async (path, method) => {
    await start();
    expect(code(await call(path, { method }))).toBe('unknown_endpoint');
  });

  it('a body over the limit is refused, whether its length is declared or not', async () => {
    await start({ maxBodyBytes: 1_000 });
    const declared = await call(WEBHOOKS, json('POST', 'x'.repeat(1_001)));
    expect([declared.status, code(declared)]).toEqual([413, 'file_too_large']);
    const pieces = new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(400));
        if ((this as { n?: number }).n === 3) controller.close();
        (this as { n?: number }).n = ((this as { n?: number }).n ?? 0) + 1;
      },
    });
    const init = { ...json('POST', ''), body: pieces, duplex: 'half' };
    expect(code(await call(WEBHOOKS, init as RequestInit))).toBe('file_too_large');
  });

  it('a body that does not arrive is refused with request_timeout', async () => {
    await start({ bodyTimeoutMs: 20 });
    const head = `POST ${WEBHOOKS} HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: ${emulator.apiKey}\r\nContent-Length: 9\r\n\r\n{`;
    const answer = await exchange(port, Buffer.from(head));
    expect([answer.status, JSON.parse(answer.body).error.code]).toEqual([408, 'request_timeout']);
  });

  it.each([
    ['nonsense', 'nonsense\r\n\r\n'],
    ['a header that is none', 'GET / HTTP/1.1\r\nHost x\r\n\r\n'],
    [
      'a body in two framings',
      'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0',
    ],
    ['an endless head', `GET / HTTP/1.1\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`],
  ])('%s is refused as invalid_request, and the next request is answered', async (_, bytes) => {
    await start();
    const answer = await exchange(port, Buffer.from(bytes));
    expect([answer.status, JSON.parse(answer.body).error.code]).toEqual([400, 'invalid_request']);
    expect((await call(LIMITS)).status).toBe(200);
  });

  it('a CONNECT request is refused as unknown_endpoint', async () => {
    await start();
    const answer = await exchange(port, Buffer.from('CONNECT other:443 HTTP/1.1\r\nHost: other:443\r\n\r\n'));
    expect(JSON.parse(answer.body).error.code).toBe('unknown_endpoint');
  });

  it('an answer to HEAD has no body, and HEAD is no route', async () => {
    await start();
    const answer = await call(LIMITS, { method: 'HEAD' });
    expect([answer.status, answer.body]).toEqual([404, undefined]);
    emulator.script({ path: '/v1/voices', status: 204 });
    expect(await call('/v1/voices')).toMatchObject({ status: 204, body: undefined });
  });
});

describe('scripted routes', () => {
  it.each([{ error: 'rate_limit_exceeded' }, { error: 'daily_limit_exceeded' }, { status: 429 }] as const)(
    'that is a 429, %j, says when to come again, whatever the windows of the account are',
    async (script) => {
      await start();
      emulator.script({ path: '/v1/voices', ...script });
      expect((await call('/v1/voices')).headers.get('retry-after')).toBe('30');
    },
  );

  it('a script answers any key until it is removed', async () => {
    await start();
    const end = emulator.script({
      path: '/v1/dubbing/jobs/{id}',
      status: 202,
      body: { a: 1 },
      headers: { 'X-A': 'b' },
    });
    const answer = await call('/v1/dubbing/jobs/dub_1', { key: null });
    expect([answer.status, answer.body, answer.headers.get('x-a')]).toEqual([202, { a: 1 }, 'b']);
    end();
    expect(code(await call('/v1/dubbing/jobs/dub_1'))).toBe('unknown_endpoint');
  });

  it('a script can require a key and a scope', async () => {
    await start();
    emulator.script({ path: '/v1/voices', scope: 'voices:read', body: [] });
    expect(code(await call('/v1/voices', { key: null }))).toBe('missing_api_key');
    expect(code(await call('/v1/voices'))).toBe('insufficient_scope');
    expect((await call('/v1/voices', { key: emulator.keys.create({ scopes: ['voices:read'] }) })).body).toEqual([]);
  });

  it('a script replaces a route of the emulator as often as `times` says', async () => {
    await start();
    emulator.script({ method: 'GET', path: LIMITS, error: 'internal_error', times: 2 });
    const codes = [await call(LIMITS), await call(LIMITS), await call(LIMITS)].map(({ status }) => status);
    expect(codes).toEqual([500, 500, 200]);
  });

  it('a script can answer an unknown error code, and a page that is not JSON', async () => {
    await start();
    emulator.script({ path: '/v1/voices', error: { code: 'brand_new', type: 'api_error', status: 503 } });
    expect((await call('/v1/voices')).body.error).toMatchObject({ code: 'brand_new', type: 'api_error', status: 503 });
    emulator.script({ path: '/v1/models', status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>no</h1>' });
    expect(await (await fetch(`${url}/v1/models`)).text()).toBe('<h1>no</h1>');
  });

  it.each([
    [{ path: 'voices' }, 'path must begin with a slash'],
    [{ path: '/v1', status: 99 }, 'status must be from 200 to 599'],
    [{ path: '/v1', error: 'brand_new' }, 'is not in the table'],
    [{ path: '/v1', headers: { 'a b': 'c' } }, 'cannot be sent'],
    [{ path: '/v1', headers: { a: 'b\r\nc' } }, 'cannot be sent'],
    [{ path: '/v1', times: 0 }, 'times must be a positive integer'],
  ])('the script %j is refused', async (script, message) => {
    await start();
    expect(() => emulator.script(script as Script)).toThrow(message);
  });
});

describe('emulator.listen', () => {
  it('the emulator listens once, on loopback only, until it is closed', async () => {
    await start();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    await expect(emulator.listen()).rejects.toThrow('listening already');
    await emulator.close();
    await expect(fetch(url)).rejects.toThrow();
    await expect(emulator.listen()).rejects.toThrow('the emulator is closed');
  });

  it('a request that names another host is answered with 403 forbidden', async () => {
    await start();
    emulator.script({ path: '/v1/voices' });
    for (const path of [LIMITS, '/v1/voices']) {
      const head = `GET ${path} HTTP/1.1\r\nHost: attacker.example:${port}\r\nX-Api-Key: ${emulator.apiKey}\r\n\r\n`;
      const answer = await exchange(port, Buffer.from(head));
      expect([answer.status, JSON.parse(answer.body).error.code]).toEqual([403, 'forbidden']);
    }
  });

  it('a port that is in use is refused', async () => {
    await start();
    const other = createEmulator();
    await expect(other.listen(port)).rejects.toThrow('EADDRINUSE');
    await other.close();
  });

  it('emulator.fetch answers without listening', async () => {
    await start();
    const headers = { authorization: `Bearer ${emulator.apiKey}`, 'content-type': 'application/json' };
    const body = JSON.stringify(settings);
    const answer = await emulator.fetch(new Request(`http://api.test${WEBHOOKS}`, { method: 'POST', headers, body }));
    expect(answer.status).toBe(201);
    expect(await answer.json()).toMatchObject(settings);
  });
});
