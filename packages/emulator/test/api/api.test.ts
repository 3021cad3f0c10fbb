import { WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { createEmulator, type Emulator, type EmulatorOptions } from 'service-webhooks-emulator';
import { afterEach, describe, expect, it } from 'vitest';
import { createAccounts } from '../../src/api/accounts.js';
import { createAuthenticate } from '../../src/api/authentication.js';
import { createKeys } from '../../src/api/keys.js';
import { createRandom } from '../../src/random.js';
import { createTotals } from '../../src/totals.js';

const START = Date.UTC(2026, 6, 11, 9);
const WEBHOOKS = '/api/v1/account/webhooks';
const LIMITS = '/api/v1/account/api-limits';
const USAGE = '/api/v1/usage';

let emulator: Emulator;
afterEach(() => emulator.close());

function create(options: EmulatorOptions = {}) {
  emulator = createEmulator({ startAt: START, seed: 'api', ...options });
}

/** Headers that are undefined are not sent. */
async function call(
  path: string,
  init: { method?: string; headers?: Sent; body?: NonNullable<RequestInit['body']> } = {},
) {
  const all = { 'x-api-key': emulator.apiKey, ...init.headers };
  const headers = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const answer = await emulator.fetch(new Request(`http://api.test${path}`, { ...init, headers }));
  const text = await answer.text();
  const body = answer.headers.get('content-type') === 'application/json' && text !== '' ? JSON.parse(text) : text;
  return { status: answer.status, headers: answer.headers, text, body, error: body?.error };
}
type Sent = Record<string, string | undefined>;

const json = (method: string, body: unknown, headers: Sent = {}) => ({
  method,
  headers: { 'content-type': 'application/json', ...headers },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});
const none = { 'x-api-key': undefined };
const settings = { url: 'https://app.example/hooks', events: ['stt.completed'] };

describe('callers', () => {
  it.each<[what: string, headers: (key: string) => Sent]>([
    ['x-api-key', (key) => ({ 'x-api-key': key })],
    ['service-api-key', (key) => ({ 'service-api-key': key })],
    ['Authorization', (key) => ({ authorization: `Bearer ${key}` })],
    ['Authorization, written in another way', (key) => ({ authorization: `bEARER   ${key}  ` })],
    ['a header next to an empty one', (key) => ({ 'service-api-key': '', 'x-api-key': key })],
    ['the first of three that differ', (key) => ({ 'service-api-key': key, 'x-api-key': 'acct_other_key' })],
    ['the second before Authorization', (key) => ({ 'x-api-key': key, authorization: 'Bearer acct_other_key' })],
  ])('the caller is identified by %s', async (_, headers) => {
    create();
    expect((await call(LIMITS, { headers: { ...none, ...headers(emulator.apiKey) } })).status).toBe(200);
  });

  it.each<[code: string, headers: Sent]>([
    ['missing_api_key', {}],
    ['missing_api_key', { authorization: 'Basic YTpi' }],
    ['missing_api_key', { authorization: 'Bearer ' }],
    ['missing_api_key', { authorization: 'not Bearer acct_other_key' }],
    ['invalid_api_key', { authorization: 'Bearer acct_other_key' }],
    ['invalid_api_key', { 'x-api-key': 'acct_other_key' }],
    ['invalid_api_key', { 'x-api-key': 'nonsense' }],
  ])('the code %s refuses the headers %j', async (code, headers) => {
    create();
    const { status, error } = await call(LIMITS, { headers: { ...none, ...headers } });
    expect([status, error]).toMatchObject([401, { code, type: 'authentication_error' }]);
  });

  it.each([
    ['x-own', 'own-api-key', 'x-own-sandbox'],
    ['acme-x-y', 'acme-x-y-api-key', 'acme-x-y-sandbox'],
  ])('with the prefix %s, the caller is identified by the header %s', async (headerPrefix, name, marked) => {
    create({ headerPrefix });
    const key = emulator.keys.create({ kind: 'sandbox' });
    const { status, headers } = await call(LIMITS, { headers: { ...none, [name]: key } });
    expect([status, headers.get(marked)]).toEqual([200, 'true']);
    expect((await call(LIMITS)).headers.get(marked)).toBe(null);
  });

  it('a key is refused once its account is gone', () => {
    const [random, totals] = [createRandom('api'), createTotals()];
    const [accounts, keys] = [createAccounts(random, totals), createKeys(random, totals)];
    const account = accounts.create({});
    const headers = { 'x-api-key': keys.create(account) };
    const authenticate = createAuthenticate(keys, accounts, 'x-service');
    expect(authenticate(headers)).toMatchObject({ account });
    accounts.byId.clear();
    expect(authenticate(headers)).toMatchObject({ code: 'invalid_api_key' });
  });

  it('the refusal of a platform key names the kind that is needed', async () => {
    create();
    const key = emulator.keys.create({ kind: 'platform' });
    const { error } = await call(LIMITS, { headers: { 'x-api-key': key } });
    expect([error.code, error.message]).toEqual([
      'invalid_api_key',
      'This is a platform key. An account key is needed here.',
    ]);
  });

  it('a plan without API access is named in the refusal, and allows a sandbox key', async () => {
    create({ account: { plan: 'FREE' } });
    expect((await call(LIMITS)).status).toBe(200);
    const { id } = emulator.accounts.create({ plan: 'CREATOR' });
    const key = emulator.keys.create({ account: id });
    emulator.accounts.update(id, { plan: 'STARTER' });
    const { status, error } = await call(LIMITS, { headers: { 'x-api-key': key } });
    expect([status, error.code, error.message]).toEqual([
      403,
      'plan_limit_exceeded',
      'The plan Starter has no API access.',
    ]);
  });

  it.each([
    [['webhooks:write', 'analytics:read'], 'webhooks:write, analytics:read'],
    [[], 'none'],
  ])('a refusal of the scopes %j names the missing one', async (scopes, held) => {
    create();
    const key = emulator.keys.create({ scopes });
    const { status, error } = await call(WEBHOOKS, { headers: { 'x-api-key': key } });
    expect([status, error.code, error.message]).toEqual([
      403,
      'insufficient_scope',
      `The scope webhooks:read is needed. The scopes of this key: ${held}.`,
    ]);
    expect((await call(LIMITS, { headers: { 'x-api-key': key } })).status).toBe(200);
  });

  it.each([
    ['owner', 200, undefined],
    ['admin', 200, undefined],
    ['member', 403, 'forbidden'],
  ] as const)('the role %s gets the status %i for the usage', async (role, status, code) => {
    create();
    const key = emulator.keys.create({ role });
    const answer = await call(USAGE, { headers: { 'x-api-key': key } });
    expect([answer.status, answer.error?.code]).toEqual([status, code]);
    expect((await call(WEBHOOKS, { headers: { 'x-api-key': key } })).status).toBe(200);
  });

  it('a denied address is refused on every path', async () => {
    create({ deniedIps: ['10.0.0.1', '127.0.0.1'] });
    emulator.script({ path: '/v1/voices' });
    for (const path of [LIMITS, '/v1/voices', '/nowhere']) {
      expect((await call(path, { headers: none })).error).toMatchObject({ code: 'ip_blocked', status: 403 });
    }
  });
});

describe('answers', () => {
  it('an answer is JSON with the rate headers and an id of its own', async () => {
    create({ account: { requestsPerMinute: 7 } });
    const [one, two] = [await call(LIMITS), await call(LIMITS)];
    expect(Object.fromEntries(two.headers)).toMatchObject({
      ...{ 'content-type': 'application/json', 'x-ratelimit-limit': '7', 'x-ratelimit-remaining': '5' },
      ...{ 'x-daily-requests-used': '2', 'x-plan': 'PROFESSIONAL', 'x-request-id': expect.stringMatching(/^req_/) },
    });
    expect(one.headers.get('x-request-id')).not.toBe(two.headers.get('x-request-id'));
    expect(emulator.totals.requests).toBe(2);
  });

  it('the usage has the credits and the limits of api-limits', async () => {
    create({ account: { creditsRemaining: 7 } });
    const [usage, limits] = [await call(USAGE), await call(LIMITS)];
    expect([usage.status, Object.keys(usage.body), usage.body.credits]).toEqual([
      200,
      ['credits', 'limits'],
      limits.body.credits,
    ]);
    expect(usage.body.limits.daily_requests_used).toBe(1);
  });

  it('a refusal is an error object with a link to the documentation', async () => {
    create();
    const { status, headers, body } = await call(WEBHOOKS, json('POST', { ...settings, url: 'ftp://app.example/' }));
    expect(status).toBe(422);
    expect(body).toEqual({
      error: {
        type: 'invalid_request_error',
        code: 'validation_error',
        message: 'url must begin with https://.',
        status: 422,
        param: 'url',
        request_id: headers.get('x-request-id'),
        doc_url: 'http://api.test/docs/errors/validation_error',
      },
    });
  });

  it('the links of error objects start with baseUrl', async () => {
    create({ baseUrl: 'https://docs.example/a/' });
    const { error } = await call('/nowhere');
    expect(error.doc_url).toBe('https://docs.example/a/docs/errors/unknown_endpoint');
    expect(Object.keys(error)).not.toContain('param');
    expect(error.message).toBe('Path is not an endpoint (paths are case-sensitive, no trailing slash).');
  });

  it('only a refusal by a limit has Retry-After', async () => {
    create({ account: { requestsPerMinute: 1 } });
    expect((await call(LIMITS)).headers.get('retry-after')).toBe(null);
    const refused = await call(LIMITS);
    expect([refused.status, refused.error.code, refused.headers.get('retry-after')]).toEqual([
      429,
      'rate_limit_exceeded',
      '60',
    ]);
    expect((await call('/nowhere')).headers.get('retry-after')).toBe(null);
  });

  it('a request counts if its key is valid, even without the scope, but not on an unknown path', async () => {
    create();
    const key = emulator.keys.create({ scopes: [] });
    await call(WEBHOOKS, { headers: { 'x-api-key': key } });
    await call('/nowhere');
    await call(LIMITS, { headers: none });
    expect((await call(LIMITS)).headers.get('x-daily-requests-used')).toBe('2');
  });

  it('a declared length over the limit is file_too_large, and one at the limit is not', async () => {
    create({ maxBodyBytes: 20 });
    const at = (length: string) => call('/nowhere', { method: 'POST', headers: { 'content-length': length } });
    expect([(await at('20')).error.code, (await at('21')).error.code]).toEqual(['unknown_endpoint', 'file_too_large']);
  });

  it.each([
    ['POST', LIMITS],
    ['GET', `${WEBHOOKS}/wh_1`],
    ['PATCH', WEBHOOKS],
    ['DELETE', WEBHOOKS],
    ['POST', USAGE],
    ['GET', `${WEBHOOKS}/`],
  ])('the request %s %s is an unknown_endpoint', async (method, path) => {
    create();
    expect((await call(path, { method })).error.code).toBe('unknown_endpoint');
  });

  it('a request whose body was already read is answered with internal_error', async () => {
    create();
    const headers = { 'x-api-key': emulator.apiKey, 'content-type': 'application/json' };
    const request = new Request(`http://api.test${WEBHOOKS}`, { method: 'POST', headers, body: '{}' });
    await request.text();
    const answer = await emulator.fetch(request);
    expect([answer.status, ((await answer.json()) as { error: object }).error]).toMatchObject([
      500,
      { code: 'internal_error' },
    ]);
  });

  it('the query is ignored', async () => {
    create();
    expect((await call(`${LIMITS}?a=b`)).status).toBe(200);
  });
});

describe('routes of webhook endpoints', () => {
  it('endpoints are created, listed, changed and deleted', async () => {
    create();
    const created = await call(WEBHOOKS, json('POST', { ...settings, events: ['stt.completed', 'stt.completed'] }));
    const { id, signing_secret } = created.body;
    const [endpoint] = emulator.endpoints.list();
    expect([created.status, created.body, endpoint?.id]).toEqual([201, { id, ...settings, signing_secret }, id]);
    expect(signing_secret).toMatch(/^whsec_/);
    expect((await call(WEBHOOKS)).body).toEqual({
      webhooks: [{ id, ...settings }],
      event_types: WEBHOOK_EVENT_TYPES,
    });
    const events = ['stt.failed'];
    const changed = await call(`${WEBHOOKS}/${id}`, json('PATCH', { events }));
    expect([changed.status, changed.body]).toEqual([200, { ...settings, id, events }]);
    const moved = await call(`${WEBHOOKS}/${id}`, json('PATCH', { url: 'https://other.example/' }));
    expect(moved.body).toEqual({ id, url: 'https://other.example/', events });
    const deleted = await call(`${WEBHOOKS}/${id}`, { method: 'DELETE' });
    expect([deleted.status, deleted.body, emulator.endpoints.list()]).toEqual([200, { id, deleted: true }, []]);
  });

  it('unknown endpoints and those of another account are not found', async () => {
    create();
    const { id: account } = emulator.accounts.create();
    const { id } = emulator.endpoints.create({ url: settings.url, account });
    for (const path of [`${WEBHOOKS}/${id}`, `${WEBHOOKS}/wh_0`]) {
      for (const init of [json('PATCH', settings), { method: 'DELETE' }]) {
        expect((await call(path, init)).error).toMatchObject({
          code: 'not_found',
          message: 'There is no webhook endpoint with this id.',
        });
      }
    }
    expect((await call(WEBHOOKS)).body.webhooks).toEqual([]);
    expect(emulator.endpoints.get(id)?.url).toBe(settings.url);
  });

  it.each<[code: string, message: string, param: string | undefined, body: unknown]>([
    ['validation_error', 'url must be a string.', 'url', { events: settings.events }],
    ['validation_error', 'url is not public: loopback.', 'url', { ...settings, url: 'https://localhost/' }],
    ...[undefined, 'stt.completed', [], {}].map(
      (events) =>
        [
          'validation_error',
          'events must be a non-empty array of event types.',
          'events',
          { ...settings, events },
        ] as const,
    ),
    [
      'validation_error',
      'events[1] is not an event type of the service.',
      'events',
      { ...settings, events: ['stt.failed', 'stt.done'] },
    ],
    ['invalid_json', 'Body not valid JSON or wrong content type.', undefined, '{"url":'],
    ['invalid_body', 'Body does not match endpoint schema.', undefined, 'null'],
    ['invalid_body', 'Body does not match endpoint schema.', undefined, '7'],
    ['invalid_body', 'Body does not match endpoint schema.', undefined, '[]'],
  ] as never)('creation is refused with %s: %s', async (code, message, param, body) => {
    create();
    const { error } = await call(WEBHOOKS, json('POST', body));
    expect([error.code, error.message, error.param]).toEqual([code, message, param]);
    expect(emulator.endpoints.list()).toEqual([]);
  });

  it('an invalid or empty update is refused', async () => {
    create();
    const { signingSecret: _, ...made } = emulator.endpoints.create(settings);
    const change = async (body: unknown) => (await call(`${WEBHOOKS}/${made.id}`, json('PATCH', body))).error;
    expect(await change({})).toMatchObject({ code: 'invalid_body', message: 'Give url, events or both.' });
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
  ])('a body of the content type %s is answered with the status %i', async (type, status) => {
    create();
    const body = new TextEncoder().encode(JSON.stringify(settings));
    const answer = await call(WEBHOOKS, { method: 'POST', headers: { 'content-type': type }, body });
    expect(answer.status).toBe(status);
    if (status === 400) expect(answer.error.code).toBe('invalid_json');
  });

  it('a body must be UTF-8 without a byte order mark', async () => {
    create();
    for (const bytes of [[0x7b, 0x22, 0xe9, 0x22, 0x3a, 0x31, 0x7d], [0xef, 0xbb, 0xbf, 0x7b, 0x7d], []]) {
      const { error } = await call(WEBHOOKS, { ...json('POST', ''), body: Uint8Array.from(bytes) });
      expect(error.code).toBe('invalid_json');
    }
    expect((await call(WEBHOOKS, { method: 'POST', headers: { 'content-type': 'application/json' } })).error.code).toBe(
      'invalid_json',
    );
  });

  it('a JSON body may have 1 MiB and no more', async () => {
    create();
    const padded = (length: number) => JSON.stringify(settings).padEnd(length, ' ');
    expect((await call(WEBHOOKS, json('POST', padded(1024 * 1024)))).status).toBe(201);
    expect((await call(WEBHOOKS, json('POST', padded(1024 * 1024 + 1)))).error.code).toBe('invalid_body');
  });

  it('a sandbox key lists endpoints but does not create, change or delete them', async () => {
    create();
    const headers = { 'x-api-key': emulator.keys.create({ kind: 'sandbox' }) };
    expect((await call(WEBHOOKS, { headers })).status).toBe(200);
    expect((await call(USAGE, { headers })).status).toBe(200);
    for (const [path, init] of [
      [WEBHOOKS, json('POST', settings, headers)],
      [`${WEBHOOKS}/wh_1`, json('PATCH', settings, headers)],
      [`${WEBHOOKS}/wh_1`, { method: 'DELETE', headers }],
    ] as const) {
      const { error, headers: answered } = await call(path, init);
      expect([error.code, answered.get('x-service-sandbox')]).toEqual(['sandbox_unsupported_route', 'true']);
    }
  });
});

describe('scripted answers', () => {
  it('a scripted answer has the headers of every answer unless it replaces them', async () => {
    create();
    emulator.script({ path: '/v1/voices/{id}', status: 202, body: { a: 1 }, headers: { 'X-Plan': 'NEW', 'x-b': 'c' } });
    const { status, body, headers } = await call('/v1/voices/a');
    expect([status, body]).toEqual([202, { a: 1 }]);
    expect(Object.fromEntries(headers)).toMatchObject({
      ...{ 'content-type': 'application/json', 'x-plan': 'NEW', 'x-b': 'c', 'x-ratelimit-limit': '100' },
    });
    expect(headers.get('retry-after')).toBe(null);
  });

  it('the default body of a script is an empty object', async () => {
    create();
    emulator.script({ path: '/v1/voices' });
    expect(await call('/v1/voices')).toMatchObject({ status: 200, text: '{}' });
  });

  it.each([204, 205, 304])('a scripted answer with the status %i has no body', async (status) => {
    create();
    emulator.script({ path: '/v1/voices', status, body: status === 204 ? undefined : 'none' });
    expect(await call('/v1/voices')).toMatchObject({ status, text: '' });
  });

  it('a scripted body can be bytes', async () => {
    create();
    emulator.script({ path: '/v1/voices', body: Uint8Array.from([104, 105]), headers: { 'content-type': 'a/b' } });
    const { text, headers } = await call('/v1/voices');
    expect([text, headers.get('content-type')]).toEqual(['hi', 'a/b']);
  });

  it('a scripted error has an error object, or the body of the script', async () => {
    create();
    emulator.script({ path: '/v1/voices', error: 'rate_limited' });
    const { status, error, headers } = await call('/v1/voices');
    expect([status, error.code, error.request_id, error.doc_url, headers.get('retry-after')]).toEqual([
      ...[429, 'rate_limited', headers.get('x-request-id'), 'http://api.test/docs/errors/rate_limited', '30'],
    ]);
    emulator.script({ path: '/v1/voices', error: 'not_found', body: 'gone' });
    const other = await emulator.fetch(new Request('http://api.test/v1/voices'));
    expect([other.status, await other.text(), other.headers.get('retry-after')]).toEqual([404, 'gone', null]);
  });

  it('a scripted Retry-After replaces the default one of a 429', async () => {
    create();
    emulator.script({ path: '/v1/voices', status: 429, headers: { 'Retry-After': '7' } });
    expect((await call('/v1/voices')).headers.get('retry-after')).toBe('7');
  });

  it('a script with a scope requires a key with that scope and counts the request', async () => {
    create();
    emulator.script({ path: '/v1/voices', scope: 'voices:read' });
    expect((await call('/v1/voices', { headers: none })).error.code).toBe('missing_api_key');
    expect((await call('/v1/voices')).error.code).toBe('insufficient_scope');
    const key = emulator.keys.create({ scopes: ['voices:read'] });
    const { status, headers } = await call('/v1/voices', { headers: { 'x-api-key': key } });
    expect([status, headers.get('x-daily-requests-used')]).toEqual([200, '2']);
  });

  it('a script with authenticate alone requires no scope, not even that of the route it replaces', async () => {
    create();
    emulator.script({ path: WEBHOOKS, authenticate: true, body: { mine: true } });
    const key = emulator.keys.create({ scopes: [] });
    const headers = { 'x-api-key': key };
    expect((await call(WEBHOOKS, { headers })).body).toEqual({ mine: true });
    expect((await call(WEBHOOKS, { headers: none })).error.code).toBe('missing_api_key');
  });

  it('a script without authenticate replaces a route for every caller', async () => {
    create();
    emulator.script({ path: LIMITS, method: 'get', times: 1, status: 503 });
    expect((await call(LIMITS, { headers: none })).status).toBe(503);
    expect((await call(LIMITS)).status).toBe(200);
  });
});
