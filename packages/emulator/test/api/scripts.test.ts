import type { Script } from 'service-webhooks-emulator';
import { describe, expect, it } from 'vitest';
import { LIMITS, startApi, WEBHOOKS } from './client.js';

const PATTERN = '/v1/jobs/{id}';
const JOB = '/v1/jobs/a';

/** The answer to a request without a key while these scripts are set. */
async function answerWith(...scripts: Omit<Script, 'path'>[]) {
  const { emulator, call } = startApi();
  for (const script of scripts) emulator.script({ path: PATTERN, ...script });
  return call(JOB, { key: null });
}

describe('the path and the method of a scripted route of the emulator', () => {
  it.each([
    ['POST', '/v1/voices'],
    ['GET', '/api/v1/voices'],
    ['GET', '/v1/models'],
    ['GET', '/v1/speech-to-speech'],
    ['POST', '/v1/speech-to-text/stream/token'],
    ['POST', '/v1/dubbing/jobs'],
  ])('%s %s is answered with 404 until a script answers it', async (method, path) => {
    const { emulator, call } = startApi();
    expect(await call(path, { method })).toMatchObject({ status: 404, code: 'unknown_endpoint' });
    emulator.script({ method, path, status: 202 });
    expect((await call(path, { method })).status).toBe(202);
  });

  it.each([
    [undefined, { GET: 200, POST: 200, BREW: 200 }],
    ['post', { GET: 404, POST: 200, BREW: 404 }],
  ])('a script for the method %s gives requests by method the statuses %j', async (method, statuses) => {
    const { emulator, call } = startApi();
    emulator.script({ path: PATTERN, ...(method && { method }) });
    for (const [sent, status] of Object.entries(statuses))
      expect((await call(JOB, { method: sent })).status).toBe(status);
  });

  it('the script added last answers until it is removed', async () => {
    const { emulator, call } = startApi();
    const found = async () => (await call(JOB)).status;
    const [first, second, third] = [201, 202, 203].map((status) => emulator.script({ path: PATTERN, status }));
    expect(await found()).toBe(203);
    second?.();
    expect(await found()).toBe(203);
    third?.();
    third?.();
    expect(await found()).toBe(201);
    first?.();
    expect(await found()).toBe(404);
  });

  it('a script with times: 2 answers two requests, then the route itself answers', async () => {
    const { emulator, call } = startApi();
    emulator.script({ method: 'GET', path: LIMITS, error: 'internal_error', times: 2 });
    const statuses = [await call(LIMITS, { key: null }), await call(LIMITS), await call(LIMITS)].map(
      ({ status }) => status,
    );
    expect(statuses).toEqual([500, 500, 200]);
  });
});

describe('scripted routes of the emulator and their keys', () => {
  it('a script with a scope requires a key with that scope and counts the request', async () => {
    const { emulator, call } = startApi();
    emulator.script({ path: PATTERN, scope: 'voices:read' });
    expect((await call(JOB, { key: null })).code).toBe('missing_api_key');
    expect((await call(JOB)).code).toBe('insufficient_scope');
    const key = emulator.keys.create({ scopes: ['voices:read'] });
    expect(await call(JOB, { key })).toMatchObject({ status: 200, headers: { 'x-daily-requests-used': '2' } });
  });

  it('authenticate: true requires a key, but not the scope of the route that the script replaces', async () => {
    const { emulator, call } = startApi();
    emulator.script({ path: WEBHOOKS, authenticate: true, body: { mine: true } });
    expect((await call(WEBHOOKS, { key: emulator.keys.create({ scopes: [] }) })).body).toEqual({ mine: true });
    expect((await call(WEBHOOKS, { key: null })).code).toBe('missing_api_key');
  });

  it('a script with a scope and authenticate: false answers without a key', async () => {
    expect((await answerWith({ scope: 'a:read', authenticate: false })).status).toBe(200);
  });
});

describe('scripted answers of the emulator', () => {
  it('an answer has the usual headers of the API unless the script replaces them', async () => {
    const { emulator, call } = startApi();
    const headers = { 'X-Plan': 'NEW', 'x-n': 7 as never, 'x-b': 'C', 'x-empty': '' };
    emulator.script({ path: PATTERN, status: 202, body: { a: 1 }, headers });
    const answer = await call(JOB);
    expect(answer).toMatchObject({ status: 202, body: { a: 1 } });
    const replaced = { 'x-plan': 'NEW', 'x-n': '7', 'x-b': 'C', 'x-empty': '' };
    expect(answer.headers).toMatchObject({
      ...replaced,
      'content-type': 'application/json',
      'x-ratelimit-limit': '100',
    });
    expect(answer.headers).not.toHaveProperty('retry-after');
  });

  it.each([
    [undefined, '{}'],
    [{ a: 1 }, '{"a":1}'],
    [null, 'null'],
    ['<h1>no</h1>', '<h1>no</h1>'],
    ['', ''],
    [Uint8Array.of(104, 105), 'hi'],
  ])('the scripted body %j is sent as %s', async (body, text) => {
    const answer = await answerWith({ status: 599, headers: { 'content-type': 'text/html' }, body });
    expect(answer).toMatchObject({ status: 599, text, headers: { 'content-type': 'text/html' } });
  });

  it.each([204, 205, 304])('an answer with the status %i has no body', async (status) => {
    expect(await answerWith({ status, body: status === 204 ? undefined : 'none' })).toMatchObject({ status, text: '' });
  });

  it.each<[script: Omit<Script, 'path'>, seconds: string | undefined]>([
    [{ status: 429 }, '30'],
    [{ error: 'rate_limit_exceeded' }, '30'],
    [{ error: 'daily_limit_exceeded' }, '30'],
    [{ status: 429, headers: { 'Retry-After': '7' } }, '7'],
    [{ error: 'not_found' }, undefined],
  ])('the answer to the script %j has Retry-After: %s', async (script, seconds) => {
    expect((await answerWith(script)).headers['retry-after']).toBe(seconds);
  });
});

describe('scripted errors of the emulator', () => {
  const row = { code: 'not_found', type: 'invalid_request_error', status: 404 };
  const own = { code: 'not_found', message: 'No.', param: 'id', type: 'api_error', status: 410 } as const;
  const fresh = { code: 'brand_new', type: 'api_error', status: 503 } as const;

  it.each<[script: Omit<Script, 'path'>, error: object]>([
    [{ error: 'not_found' }, { ...row, message: "Unknown id or another account's resource." }],
    [{ error: { code: 'not_found', message: 'No.' } }, { ...row, message: 'No.' }],
    [{ error: own }, own],
    [{ error: fresh }, { ...fresh, message: 'brand_new' }],
    [
      { error: { code: 'brand_new', type: 'api_error' }, status: 502 },
      { ...fresh, status: 502 },
    ],
    [
      { error: 'not_found', status: 410 },
      { ...row, status: 410 },
    ],
    [
      { error: { code: 'not_found', status: 404 }, status: 410 },
      { ...row, status: 410 },
    ],
    ...(['transcription_timeout', 'unsupported_media', 'insufficient_credits', 'workflow_empty'] as const).map(
      (code): [Omit<Script, 'path'>, object] => [{ error: code }, { code }],
    ),
  ])('the script %j is answered with the error %j', async (script, expected) => {
    const { status, headers, error } = await answerWith(script);
    expect(error).toMatchObject({ request_id: headers['x-request-id'], ...expected });
    expect(error.doc_url).toBe(`http://api.test/docs/errors/${error.code}`);
    expect(status).toBe(error.status);
  });

  it('a scripted body is sent in place of the error object', async () => {
    expect(
      await answerWith({ error: 'not_found', body: 'gone', headers: { 'content-type': 'text/plain' } }),
    ).toMatchObject({
      status: 404,
      text: 'gone',
    });
  });
});

describe('an invalid script for the emulator', () => {
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;

  it.each<[message: string, script: unknown]>([
    ['script must be an object', null],
    ['script must be an object', undefined],
    ["Unknown option 'route' in script. It takes method, path", { path: '/v1', route: '/v1' }],
    ['method must be like GET', { path: '/v1', method: '' }],
    ['method must be like GET', { path: '/v1', method: 7 }],
    ['path must begin with a slash', { path: 'v1/' }],
    ['path must begin with a slash', {}],
    ['path must be without a query: no route reads it', { path: '/v1?a' }],
    ['path must be without a query: no route reads it', { path: '/v1#a' }],
    ['headers must be an object', { path: '/v1', headers: null }],
    ['headers."a b" cannot be sent', { path: '/v1', headers: { ok: 'a', 'A b': 'c' } }],
    ['headers."a" cannot be sent', { path: '/v1', headers: { a: 'b\nc' } }],
    ['times must be a positive integer', { path: '/v1', times: 0 }],
    ...[99, 199, 600, 200.5].map((status): [string, unknown] => [
      'status must be from 200 to 599',
      { path: '/v1', status },
    ]),
    ['body cannot be written as JSON', { path: '/v1', body: cyclic }],
    ['body cannot be written as JSON', { path: '/v1', body: () => {} }],
    ['error must be an object', { path: '/v1', error: null }],
    [
      "Unknown option 'params' in error. Did you mean 'param'?",
      { path: '/v1', error: { code: 'not_found', params: 1 } },
    ],
    ['error: brand_new is not in the table, so give its type and status', { path: '/v1', error: 'brand_new' }],
    ['error: toString is not in the table', { path: '/v1', error: 'toString' }],
    ['error: new is not in the table', { path: '/v1', error: { code: 'new', type: 'api_error' } }],
    ['error: new is not in the table', { path: '/v1', error: { code: 'new', status: 500 } }],
  ])('the error "%s" is thrown for the script %o', (message, script) => {
    expect(() => startApi().emulator.script(script as Script)).toThrow(message);
  });
});
