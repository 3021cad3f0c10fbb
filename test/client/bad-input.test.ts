import { inspect } from 'node:util';
import { type ClientOptions, createClient } from 'service-webhooks/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { clientOf, failureOf, KEY } from './clients.js';
import { type Api, breakOff, hangUp, json, refusal, serveApi, text } from './serve-api.js';

let api: Api;
beforeAll(async () => {
  api = await serveApi();
});
beforeEach(() => api.reset());
afterAll(() => api.close());

describe('a client is not made', () => {
  const good = { apiKey: KEY, baseUrl: 'https://api.example' };
  it.each<[what: string, options: unknown, problem: string]>([
    ['of nothing', undefined, 'options must be an object'],
    ['without a key', { ...good, apiKey: undefined }, 'apiKey must be given: is the environment variable set?'],
    ['with an empty key', { ...good, apiKey: '' }, 'apiKey must be given: is the environment variable set?'],
    ['with a key that has a line break', { ...good, apiKey: `${KEY}\n` }, 'apiKey has a line break: trim it'],
    ['with a key in two parts', { ...good, apiKey: `${KEY} ` }, 'apiKey has a space, or what no header can hold'],
    [
      'with a key that begins with a space',
      { ...good, apiKey: ` ${KEY}` },
      'apiKey has a space, or what no header can hold',
    ],
    ['without a baseUrl', { apiKey: KEY }, 'baseUrl must begin with https://'],
    ['with a baseUrl without scheme', { ...good, baseUrl: 'api.example' }, 'baseUrl must begin with https://'],
    ['with a port for a scheme', { ...good, baseUrl: 'localhost:80' }, 'baseUrl must begin with https://'],
    ['with another scheme', { ...good, baseUrl: 'xhttps://api.example' }, 'baseUrl must begin with https://'],
    [
      'with a baseUrl that is no text',
      { ...good, baseUrl: new URL('https://api.example') },
      'baseUrl must begin with https://',
    ],
    ['with half a baseUrl', { ...good, baseUrl: 'https://' }, 'baseUrl is no URL'],
    [
      'with a password in baseUrl',
      { ...good, baseUrl: `https://a:${KEY}@api.example` },
      'baseUrl must not hold credentials: the key is apiKey',
    ],
    [
      'with a name in baseUrl',
      { ...good, baseUrl: `https://${KEY}@api.example` },
      'baseUrl must not hold credentials: the key is apiKey',
    ],
    [
      'with a password alone in baseUrl',
      { ...good, baseUrl: `https://:${KEY}@api.example` },
      'baseUrl must not hold credentials: the key is apiKey',
    ],
    ['with a fragment in baseUrl', { ...good, baseUrl: 'https://api.example#a' }, 'baseUrl must end with its path'],
    [
      'with a query in baseUrl',
      { ...good, baseUrl: `https://api.example?key=${KEY}` },
      'baseUrl must end with its path',
    ],
    ['with a wrong headerPrefix', { ...good, headerPrefix: 'x service' }, 'headerPrefix must be like x-service'],
    ['with a dash before headerPrefix', { ...good, headerPrefix: '-x-service' }, 'headerPrefix must be like x-service'],
    ['with a dash behind headerPrefix', { ...good, headerPrefix: 'x-service-' }, 'headerPrefix must be like x-service'],
    ['with no tries', { ...good, maxAttempts: 0 }, 'maxAttempts must be a positive integer'],
    ['with no time', { ...good, timeoutMs: Number.NaN }, 'timeoutMs must be a positive integer'],
    ['with no room for an answer', { ...good, maxAnswerBytes: 0 }, 'maxAnswerBytes must be a positive integer'],
    ['with a fetch that is none', { ...good, fetch: 'fetch' }, 'fetch must be a function'],
    ['with a clock that is none', { ...good, now: 0 }, 'now must be a function'],
    ['with a random that is none', { ...good, random: 0 }, 'random must be a function'],
    ['with a sleep that is none', { ...good, sleep: 0 }, 'sleep must be a function'],
  ])('%s', async (_, options, problem) => {
    const failure = await failureOf((async () => createClient(options as ClientOptions))());
    expect(failure).toMatchObject({ code: 'invalid_option', message: `invalid_option: ${problem}` });
  });

  it('that shows its key', () => {
    expect(inspect(clientOf(api.url).client, { depth: null, showHidden: true })).not.toContain(KEY);
  });
});

describe('a client is made', () => {
  it.each(['x', 'acme', 'x-acme-2'])('with the headerPrefix %s', async (headerPrefix) => {
    api.replies.push(json({}, 200, { [`${headerPrefix}-sandbox`]: 'true' }));
    expect((await clientOf(api.url, { headerPrefix }).client.voices()).sandbox).toBe(true);
  });

  it('with a baseUrl that ends with slashes', async () => {
    await clientOf(`${api.url}/base//`).client.voices();
    expect(api.seen.map(({ path }) => path)).toEqual(['/base/v1/voices']);
  });
});

it('an answer may be as large as it is allowed to be, and no larger', async () => {
  const { client } = clientOf(api.url, { maxAnswerBytes: 4 });
  api.replies.push(text('"ab"'), text('"abc"'));
  expect((await client.voices()).data).toBe('ab');
  expect(await failureOf(client.voices())).toMatchObject({
    code: 'too_large',
    message: 'too_large: GET /v1/voices: 200 with more than 4 bytes',
  });
});

describe('what is no answer of the service is said to be so:', () => {
  it.each<[what: string, reply: Parameters<Api['replies']['push']>[0], failure: object]>([
    [
      'a body that is not JSON',
      text('{"half":', 200, { 'content-type': 'application/json' }),
      { code: 'not_json', message: 'not_json: GET /v1/voices: 200 application/json, 8 bytes', status: 200 },
    ],
    [
      'the page of a captive portal',
      text('<html><title>Log in</title>', 200, { 'content-type': 'text/html; charset=utf-8' }),
      { code: 'not_json', message: 'not_json: GET /v1/voices: 200 text/html, 27 bytes: "Log in"', status: 200 },
    ],
    [
      'an HTML error page of a proxy',
      text('<HTML><TITLE lang="en">\n404 Not here</TITLE>', 404, { 'content-type': 'text/html' }),
      { code: 'not_json', message: 'not_json: GET /v1/voices: 404 text/html, 44 bytes: "404 Not here"', status: 404 },
    ],
    [
      'a word with 400',
      text('no', 400),
      { code: 'not_json', message: 'not_json: GET /v1/voices: 400 no content type, 2 bytes: "no"', status: 400 },
    ],
    [
      'a line of text, with its control characters made visible',
      text('\u001b[31mno\nroute', 404),
      {
        code: 'not_json',
        message: 'not_json: GET /v1/voices: 404 no content type, 13 bytes: "\\u001b[31mno\\nroute"',
        status: 404,
      },
    ],
    [
      'an empty 500',
      text('', 500),
      { code: 'not_json', message: 'not_json: GET /v1/voices: 500 with an empty body', status: 500, retry: 'now' },
    ],
    [
      'JSON that is no error object',
      json({ message: 'no Route matched' }, 404),
      {
        code: 'unexpected_answer',
        message:
          'unexpected_answer: GET /v1/voices: 404 application/json, 30 bytes: "{\\"message\\":\\"no Route matched\\"}"',
      },
    ],
    ['an error that is null', json({ error: null }, 400), { code: 'unexpected_answer', status: 400 }],
    ['an error object without a code', json({ error: { message: 'no' } }, 400), { code: 'unexpected_answer' }],
    ['an answer that is cut off', breakOff, { code: 'broken_off', message: expect.stringContaining('200, 5 bytes') }],
    ['a connection that is cut off', hangUp, { code: 'no_connection', hint: expect.stringContaining('baseUrl') }],
    ['an answer without end', text('x'.repeat(2_000)), { code: 'too_large', status: 200 }],
    ['compressed nonsense', text('no gzip', 200, { 'content-encoding': 'gzip' }), { code: 'broken_off' }],
  ])('%s', async (_, reply, failure) => {
    const { client } = clientOf(api.url, { maxAttempts: 1, maxAnswerBytes: 1_000 });
    api.replies.push(reply);
    expect(await failureOf(client.voices())).toMatchObject({ name: 'ClientError', attempts: 1, ...failure });
  });

  it('a port where nobody listens', async () => {
    const gone = await serveApi();
    await gone.close();
    const failure = await failureOf(clientOf(gone.url, { maxAttempts: 1 }).client.voices());
    expect(failure).toMatchObject({ code: 'no_connection', nothingDone: true, status: undefined });
    expect(failure.message).toContain('ECONNREFUSED');
  });
});

describe('the key', () => {
  it('is not sent on to another host, or to any: a redirect is an error', async () => {
    const other = await serveApi();
    for (const [status, to] of [
      [301, `${other.url}/v1/voices`],
      [307, `${other.url}/v1/voices?secret=1`],
      [308, '/v1/voices/'],
      [302, 'http://'],
      [300, ''],
    ] as const) {
      api.replies.push(text('', status, to === '' ? {} : { location: to }));
      const failure = await failureOf(
        clientOf(api.url).client.request({ method: 'POST', path: '/v1/voices', body: 1 }),
      );
      const origin = { '/v1/voices/': api.url, 'http://': 'nowhere', '': 'nowhere' }[to as string] ?? other.url;
      expect(failure).toMatchObject({
        code: 'redirected',
        message: `redirected: POST /v1/voices: ${status}, to ${origin}`,
      });
    }
    expect(other.seen).toEqual([]);
    expect(api.seen).toHaveLength(5);
    await other.close();
  });

  it('is not sent on in a browser either, which tells nothing of a redirect', async () => {
    const { client } = clientOf(api.url, { fetch: async () => Response.error() });
    expect(await failureOf(client.voices())).toMatchObject({ code: 'redirected', status: 0 });
  });

  it('is in no error, though the answer repeats it', async () => {
    const { client } = clientOf(api.url, { maxAttempts: 1 });
    const fields = { message: `bad key ${KEY}`, type: KEY, param: KEY, doc_url: KEY, request_id: KEY };
    api.replies.push(
      refusal('invalid_api_key', 401, fields),
      refusal(`new_${KEY}`, 400),
      text(`<title>${'x'.repeat(95)}${KEY}</title>`, 500),
      text('{}', 401, { 'x-request-id': KEY }),
      text('', 302, { location: `https://${KEY}.example` }),
    );
    expect(await failureOf(client.voices())).toMatchObject({ message: 'bad key [API key]', param: '[API key]' });
    expect(await failureOf(client.voices())).toMatchObject({ code: 'new_[API key]' });
    expect((await failureOf(client.voices())).message).toMatch(/x{95}\[API "$/); // no half of it either
    expect(await failureOf(client.voices())).toMatchObject({ requestId: '[API key]' });
    expect(await failureOf(client.voices())).toMatchObject({ message: 'redirected: GET /v1/voices: 302, to nowhere' });
  });

  it('is in no error, though fetch throws one that holds the request', async () => {
    const fetch = async (_url: string, init: RequestInit): Promise<Response> => {
      throw Object.assign(new TypeError(`cannot send ${JSON.stringify(init)}`), { init, code: 'ECONNRESET' });
    };
    const failure = await failureOf(clientOf(api.url, { fetch, maxAttempts: 1 }).client.voices());
    expect(failure).toMatchObject({ code: 'no_connection' });
    expect(failure.cause).toBeUndefined();
    expect(failure.message).toContain('ECONNRESET, cannot send');
  });

  it.each<[thrown: unknown, words: string]>([
    [undefined, 'fetch failed'],
    [null, 'fetch failed'],
    ['text', 'fetch failed'],
    [{ cause: null }, 'fetch failed'],
    [{ code: 7, message: '' }, 'fetch failed'],
    [{ cause: { code: 'EPIPE', message: '' } }, 'EPIPE'],
    [{ cause: { code: '', message: 'no route' } }, 'no route'],
  ])('a fetch that throws %j is no connection either', async (thrown, words) => {
    const fetch = () => {
      throw thrown;
    };
    expect(await failureOf(clientOf(api.url, { fetch, maxAttempts: 1 }).client.voices())).toMatchObject({
      code: 'no_connection',
      message: `no_connection: GET /v1/voices: ${words}`,
      nothingDone: false,
    });
  });

  it.each(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'])(
    'a fetch that fails with %s has sent nothing',
    async (code) => {
      const fetch = () => Promise.reject(new TypeError('fetch failed', { cause: { code } }));
      expect(await failureOf(clientOf(api.url, { fetch, maxAttempts: 1 }).client.voices())).toMatchObject({
        code: 'no_connection',
        nothingDone: true,
      });
    },
  );
});
