import { inspect } from 'node:util';
import { type ClientOptions, createClient } from 'service-webhooks/client';
import { describe, expect, it } from 'vitest';
import { clientOf, failureOf, KEY, useApi } from './clients.js';
import { json } from './serve-api.js';

const api = useApi();

const NO_KEY = 'apiKey must be given. Set the environment variable that it is read from.';
const NO_URL = 'baseUrl must begin with https://';
const WITH_KEY = 'pass the key as apiKey';
const NO_PREFIX = 'headerPrefix must be letters, digits and single hyphens, like x-service';
const good = { apiKey: KEY, baseUrl: 'https://api.example' };
const refusalOf = (options: unknown) => failureOf((async () => createClient(options as ClientOptions))());

describe('createClient', () => {
  it.each<[what: string, options: unknown, problem: string]>([
    ['no options', undefined, 'options must be an object'],
    ['no key', { ...good, apiKey: undefined }, NO_KEY],
    ['an empty key', { ...good, apiKey: '' }, NO_KEY],
    ['a key with a line break', { ...good, apiKey: `${KEY}\n` }, 'apiKey has a line break: trim it'],
    ['a key with a space at its end', { ...good, apiKey: `${KEY} ` }, 'apiKey has a space'],
    ['a key with a space at its start', { ...good, apiKey: ` ${KEY}` }, 'apiKey has a space'],
    ['a key of signs', { ...good, apiKey: '---' }, 'apiKey has no letter and no digit'],
    ['no baseUrl', { apiKey: KEY }, NO_URL],
    ['a baseUrl without a scheme', { ...good, baseUrl: 'api.example' }, NO_URL],
    ['a baseUrl of host and port', { ...good, baseUrl: 'localhost:80' }, NO_URL],
    ['another scheme', { ...good, baseUrl: 'xhttps://api.example' }, NO_URL],
    ['a URL object', { ...good, baseUrl: new URL('https://api.example') }, NO_URL],
    ['a baseUrl without a host', { ...good, baseUrl: 'https://' }, 'baseUrl must be a URL'],
    ['credentials in baseUrl', { ...good, baseUrl: `https://a:${KEY}@api.example` }, WITH_KEY],
    ['a user name in baseUrl', { ...good, baseUrl: `https://${KEY}@api.example` }, WITH_KEY],
    ['a password in baseUrl', { ...good, baseUrl: `https://:${KEY}@api.example` }, WITH_KEY],
    ['a fragment in baseUrl', { ...good, baseUrl: 'https://api.example#a' }, 'baseUrl must end with its path'],
    ['a query in baseUrl', { ...good, baseUrl: `https://api.example?key=${KEY}` }, 'baseUrl must end with its path'],
    ['a space in headerPrefix', { ...good, headerPrefix: 'x service' }, NO_PREFIX],
    ['a dash before headerPrefix', { ...good, headerPrefix: '-x-service' }, NO_PREFIX],
    ['a dash after headerPrefix', { ...good, headerPrefix: 'x-service-' }, NO_PREFIX],
    ['a maxAttempts of 0', { ...good, maxAttempts: 0 }, 'maxAttempts must be a positive integer'],
    ['a timeoutMs that is NaN', { ...good, timeoutMs: Number.NaN }, 'timeoutMs must be a positive integer'],
    ['a maxAnswerBytes of 0', { ...good, maxAnswerBytes: 0 }, 'maxAnswerBytes must be a positive integer'],
    ['a limiter that is text', { ...good, limiter: 'false' }, 'limiter must be true or false'],
    ['a fetch that is text', { ...good, fetch: 'fetch' }, 'fetch must be a function'],
    ['a now that is a number', { ...good, now: 0 }, 'now must be a function'],
    ['a random that is a number', { ...good, random: 0 }, 'random must be a function'],
    ['a sleep that is a number', { ...good, sleep: 0 }, 'sleep must be a function'],
  ])('%s is refused', async (_, options, problem) => {
    const failure = await refusalOf(options);
    expect(failure).toMatchObject({ code: 'invalid_option', message: expect.stringContaining(problem) });
  });

  it.each([
    ['apikey', 'apiKey'],
    ['baseURL', 'baseUrl'],
    ['timeout', 'timeoutMs'],
    ['maxAttempt', 'maxAttempts'],
    ['limter', 'limiter'],
  ])('the unknown option %s is refused with the nearest name', async (name, nearest) => {
    const failure = await refusalOf({ ...good, [name]: 'a value that may be a secret' });
    expect(failure).toMatchObject({ code: 'invalid_option' });
    expect(failure.message).toContain(`Unknown option '${name}' in createClient. Did you mean '${nearest}'?`);
    expect(inspect(failure, { depth: null })).not.toContain('a value');
  });

  it('an option given as undefined has its default', () => {
    const names = ['fetch', 'headerPrefix', 'timeoutMs', 'maxAttempts', 'maxAnswerBytes', 'limiter', 'now', 'random'];
    const options = { ...good, ...Object.fromEntries(names.map((name) => [name, undefined])) };
    expect(() => createClient(options)).not.toThrow();
  });

  it.each([
    'http://api.example',
    'http://api.example:8080/base',
    'HTTP://API.example',
    'http://10.0.0.1',
    'http://0.0.0.0',
    'http://128.0.0.1',
    'http://[::2]',
    'http://[::ffff:127.0.0.1]',
    'http://localhost.example',
    'http://my.localhost',
    'http://127.0.0.1.example',
    'http://127.example',
  ])('the unencrypted address %s is refused', async (baseUrl) => {
    const failure = await refusalOf({ ...good, baseUrl });
    const { origin, host } = new URL(baseUrl);
    expect(failure).toMatchObject({ code: 'invalid_option' });
    expect(failure.message).toContain(
      `baseUrl ${origin} would send the API key unencrypted. Use https://${host}: http:// is allowed for localhost, `,
    );
  });

  it.each([
    'http://localhost:4848',
    'http://LOCALHOST',
    'http://127.0.0.1:1/base',
    'http://127.255.255.254',
    'http://127.1',
    'http://2130706433',
    'http://[::1]:4848',
    'http://[0:0:0:0:0:0:0:1]',
  ])('the loopback address %s is accepted without encryption', (baseUrl) => {
    expect(() => createClient({ ...good, baseUrl })).not.toThrow();
  });

  it('the key is not shown by inspect()', () => {
    expect(inspect(api.client, { depth: null, showHidden: true })).not.toContain(KEY);
  });

  it.each(['x', 'acme', 'X-Acme', 'x-acme-2'])('the headerPrefix %s is accepted and used', async (headerPrefix) => {
    api.replies.push(json({}, 200, { [`${headerPrefix}-sandbox`]: 'true' }));
    expect((await clientOf(api.url, { headerPrefix }).client.voices()).sandbox).toBe(true);
  });

  it('a baseUrl may end with slashes', async () => {
    await clientOf(`${api.url}/base//`).client.voices();
    expect(api.seen.map(({ path }) => path)).toEqual(['/base/v1/voices']);
  });
});
