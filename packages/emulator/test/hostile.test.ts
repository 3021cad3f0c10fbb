import { connect } from 'node:net';
import { isWebhookError } from 'service-webhooks';
import { createEmulator, type Emulator, type EmulatorOptions } from 'service-webhooks-emulator';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exchange } from '../../../test/support/raw-http.js';

const WEBHOOKS = '/api/v1/account/webhooks';
const MIB = 1024 * 1024;

let emulator: Emulator;
let port: number;
let key: string;
beforeEach(async () => {
  emulator = createEmulator({ account: { plan: 'ENTERPRISE' }, bodyTimeoutMs: 200, fetch: () => new Response() });
  ({ port } = await emulator.listen());
  key = `X-Api-Key: ${emulator.apiKey}\r\n`;
});
afterEach(() => emulator.close());

/** The status and the code of the answer to some bytes. */
async function answerTo(bytes: string): Promise<string> {
  const { status, headers, body } = await exchange(port, Buffer.from(bytes, 'latin1'));
  expect(headers['x-request-id']).toMatch(/^req_/);
  return `${status} ${JSON.parse(body).error?.code ?? ''}`.trim();
}

const isAlive = async () => expect(await answerTo(get(key))).toBe('200');

const get = (headers: string, path = WEBHOOKS) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;
const post = (headers: string, body = '') =>
  `POST ${WEBHOOKS} HTTP/1.1\r\nHost: localhost\r\n${key}Content-Type: application/json\r\n${headers}\r\n${body}`;
const postJson = (json: string) => post(`Content-Length: ${json.length}\r\n`, json);

describe('malformed and unusual requests', () => {
  it.each<[what: string, answer: string, bytes: () => string]>([
    ['without a Host', '400 invalid_request', () => `GET ${WEBHOOKS} HTTP/1.1\r\n${key}\r\n`],
    ['without a Host in HTTP/1.0', '200', () => `GET ${WEBHOOKS} HTTP/1.0\r\n${key}\r\n`],
    ['in HTTP/2', '400 invalid_request', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['in TLS', '400 invalid_request', () => `\x16\x03\x01\0\xc8\x01\0\0\xc4\x03\x03${'\0'.repeat(60)}`],
    ['with bare line feeds', '400 invalid_request', () => `GET ${WEBHOOKS} HTTP/1.1\nHost: x\n\n`],
    ['with a folded header', '400 invalid_request', () => get('X-Api-Key: a\r\n b\r\n')],
    ['with a NUL in a header', '400 invalid_request', () => get('X: \0\r\n')],
    ['with an unknown method', '400 invalid_request', () => 'BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['for the server itself', '404 unknown_endpoint', () => 'OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['for another server', '200', () => get(key, `http://other.example${WEBHOOKS}?a=b`)],
    ['for an endless path', '400 invalid_request', () => get(key, `/${'a'.repeat(40_000)}`)],
    ['for a path with dots', '404 unknown_endpoint', () => get(key, '/api/v1/../v1/account/webhooks')],
    ['for a path with an escape', '404 unknown_endpoint', () => get(key, '/api/v1/account%2fwebhooks')],
    ['for the endpoint __proto__', '404 not_found', () => get(key, `${WEBHOOKS}/__proto__`).replace('GET', 'DELETE')],
    ['that wants to upgrade', '200', () => get(`${key}Connection: Upgrade\r\nUpgrade: websocket\r\n`)],
    ['with an unknown expectation', '400 invalid_request', () => post('Expect: tea\r\nContent-Length: 0\r\n')],
    ['with two keys', '401 invalid_api_key', () => get(key + key)],
    ['with a key that is not ASCII', '401 invalid_api_key', () => get('X-Api-Key: acct_\xff\xfe12345678\r\n')],
    ['with an empty key', '401 missing_api_key', () => get('X-Api-Key: \r\n')],
    ['with a password', '401 missing_api_key', () => get('Authorization: Basic YTpi\r\n')],
    ['with two lengths', '400 invalid_request', () => post('Content-Length: 1\r\nContent-Length: 2\r\n', 'xx')],
    ['with a length below zero', '400 invalid_request', () => post('Content-Length: -1\r\n', 'x')],
    ['with a length beyond numbers', '400 invalid_request', () => post(`Content-Length: ${'9'.repeat(20)}\r\n`, 'x')],
    ['with an unknown framing', '400 invalid_request', () => post('Transfer-Encoding: gzip\r\n', 'x')],
    ['with an invalid chunk', '400 invalid_request', () => post('Transfer-Encoding: chunked\r\n', 'Z\r\n')],
    [
      'with an invalid second chunk',
      '400 invalid_request',
      () => post('Transfer-Encoding: chunked\r\n', '2\r\n{}\r\nZ\r\n'),
    ],
    ['with a length over the edge', '413 file_too_large', () => post(`Content-Length: ${300 * MIB}\r\n`, 'x')],
    ['whose body does not arrive', '408 request_timeout', () => post('Content-Length: 5\r\n', '{')],
    ['with its key after the body', '401 missing_api_key', () => withTrailer(key)],
  ])('a request %s is answered with %s', async (_, answer, bytes) => {
    expect(await answerTo(bytes())).toBe(answer);
    await isAlive();
  });

  const withTrailer = (trailer: string) =>
    post('Transfer-Encoding: chunked\r\n', `2\r\n{}\r\n0\r\n${trailer}\r\n`).replace(key, '');
});

describe('hostile JSON', () => {
  const settings = (events: string) => `{"url":"https://app.example/","events":${events}}`;

  it.each([
    ['deep and open', '400 invalid_json', '['.repeat(500_000)],
    ['deep in its events', '422 validation_error', settings(`[${'['.repeat(99_999)}${']'.repeat(99_999)}]`)],
    ['long in its events', '422 validation_error', settings(`["${'a'.repeat(900_000)}"]`)],
    ['larger than 1 MiB', '400 invalid_body', settings(`["${'a'.repeat(1_100_000)}"]`)],
    ['a prototype in disguise', '422 validation_error', `{"__proto__":${settings('["stt.completed"]')}}`],
    ['preceded by a byte order mark', '400 invalid_json', `\xef\xbb\xbf${settings('["stt.completed"]')}`],
    ['ambiguous, with a bad second url', '422 validation_error', '{"url":"https://a.example","url":7}'],
    ['not UTF-8', '400 invalid_json', settings('["\xff"]')],
  ])('JSON that is %s is answered with %s', async (_, answer, json) => {
    expect(await answerTo(postJson(json))).toBe(answer);
    expect(emulator.endpoints.list()).toEqual([]);
    await isAlive();
  });

  it('the refusal of hostile JSON does not repeat it', async () => {
    const { body } = await exchange(port, Buffer.from(postJson(settings(`["${'a'.repeat(900_000)}"]`))));
    expect(body.length).toBeLessThan(1_000);
  });
});

describe('clients that disconnect', () => {
  it.each([
    ['in the head', 'POST /api'],
    ['in the body', 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\nx'],
    ['before its answers', 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(50)],
  ])('the server survives many clients that disconnect %s', async (_, bytes) => {
    const leave = () =>
      new Promise<void>((resolve) => {
        const socket = connect(port, '127.0.0.1', () => socket.write(bytes, () => socket.resetAndDestroy()));
        socket.on('error', () => {}).on('close', () => resolve());
      });
    await Promise.all(Array.from({ length: 50 }, leave));
    await isAlive();
  });
});

describe('scripted answers that cannot be sent', () => {
  it.each([
    ['a wrong length', { headers: { 'content-length': '3' }, body: 'longer than that' }],
    ['two framings', { headers: { 'content-length': '3', 'transfer-encoding': 'chunked' }, body: 'abc' }],
    ['a body for a status without one', { status: 304, body: 'abc' }],
  ])('after a script with %s the next request is answered', async (_, script) => {
    emulator.script({ path: '/v1/voices', ...script });
    await exchange(port, Buffer.from(get(key, '/v1/voices'))).catch(() => {});
    await isAlive();
  });
});

describe('invalid arguments', () => {
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;
  const url = 'https://app.example/';

  it.each<[message: string, options: unknown]>([
    ['options must be an object', null],
    ['account must be an object', { account: 7 }],
    ['keep must be an object', { keep: null }],
    ['faults.drop.rate must be from 0 to 1', { faults: { drop: '0.5' } }],
    ["Unknown option 'toString' in faults", { faults: { toString: 1 } }],
    ['baseUrl must be like https://api.example', { baseUrl: 'api.example' }],
    ['baseUrl must be like https://api.example', { baseUrl: 7 }],
    ['headerPrefix must be letters, digits and single hyphens, like x-service', { headerPrefix: 7 }],
    ['deniedIps must be an array of addresses', { deniedIps: '127.0.0.1' }],
    ['allowLoopback must be true or false', { allowLoopback: 'no' }],
    ['startAt must be milliseconds since the epoch', { startAt: 8.64e15 }],
    ['hangAfterMs must be at most 2147483647', { hangAfterMs: 2 ** 31 }],
  ])('createEmulator refuses its options: %s', async (message, options) => {
    await expectRefusal(() => createEmulator(options as EmulatorOptions), message);
  });

  it.each<[message: string, call: (loose: Loose) => unknown]>([
    ['type must be an event type, such as stt.completed', ({ emit }) => emit(7)],
    ['overrides must be an object', ({ emit }) => emit('stt.completed', null)],
    ['overrides cannot be written as JSON', ({ emit }) => emit('stt.completed', { data: cyclic })],
    ['account nobody does not exist', ({ emit }) => emit('stt.completed', {}, { account: 'nobody' })],
    ['ms goes beyond the year 9999', ({ advance }) => advance(1e300)],
    ['script must be an object', ({ script }) => script()],
    ['body cannot be written as JSON', ({ script }) => script({ path: '/v1', body: cyclic })],
    ['body cannot be written as JSON', ({ script }) => script({ path: '/v1', body: () => {} })],
    ['error must be an object', ({ script }) => script({ path: '/v1', error: null })],
    ['headers must be an object', ({ script }) => script({ path: '/v1', headers: null })],
    ['method must be like GET', ({ script }) => script({ path: '/v1', method: 7 })],
    ['path must be without a query', ({ script }) => script({ path: '/v1?a=b' })],
    ['endpoint must be an object', ({ endpoints }) => endpoints.create()],
    ['url must be a string', ({ endpoints }) => endpoints.create({ url: new URL(url) })],
    ['events must be a list of event types', ({ endpoints }) => endpoints.create({ url, events: [''] })],
    ['events must be a list of event types', ({ endpoints }) => endpoints.create({ url, events: new Array(2) })],
    ['endpoint wh_0 does not exist', ({ endpoints }) => endpoints.pause('wh_0')],
    ['settings must be an object', ({ accounts }) => accounts.create(null)],
    ['settings must be an object', ({ keys }) => keys.create(null)],
    ['scopes must be strings', ({ keys }) => keys.create({ scopes: 'webhooks:read' })],
    ['value: this key exists already', ({ keys }) => keys.create({ value: emulator.apiKey })],
    ['key is unknown: pass a key that keys.create returned', ({ keys }) => keys.revoke(7)],
    [
      "Unknown option 'acount' in the third argument of emit. Did you mean 'account'?",
      ({ emit }) => emit('stt.completed', {}, { acount: 'acc_1' }),
    ],
    [
      "Unknown option 'event' in endpoints.create. Did you mean 'events'?",
      ({ endpoints }) => endpoints.create({ url, event: ['stt.completed'] }),
    ],
    [
      "Unknown option 'signingSecret' in endpoints.update. It takes url, events",
      (loose) => loose.endpoints['update']?.(made(loose), { signingSecret: 'x' }),
    ],
    [
      "Unknown option 'plam' in the settings of an account. Did you mean 'plan'?",
      ({ accounts }) => accounts.create({ plam: 'FREE' }),
    ],
    [
      "Unknown option 'maxkeys' in the settings of an account. Did you mean 'maxKeys'?",
      ({ accounts }) => accounts['update']?.(emulator.accounts.list()[0]?.id, { maxkeys: 1 }),
    ],
    [
      "Unknown option 'scope' in the settings of a key. Did you mean 'scopes'?",
      ({ keys }) => keys.create({ scope: 'webhooks:read' }),
    ],
    [
      "Unknown option 'status' in deliveries.list. Did you mean 'state'?",
      ({ deliveries }) => deliveries.list({ status: 'dead' }),
    ],
    [
      "Unknown option 'state' in attempts.list. It takes deliveryId, endpointId, eventId",
      ({ attempts }) => attempts.list({ state: 'dead' }),
    ],
    ["Unknown option 'route' in script. It takes method, path", ({ script }) => script({ path: '/v1', route: '/v1' })],
    [
      "Unknown option 'params' in error. Did you mean 'param'?",
      ({ script }) => script({ path: '/v1', error: { code: 'not_found', params: 'id' } }),
    ],
    ["Unknown option 'dupliacte' in faults. Did you mean 'duplicate'?", ({ setFaults }) => setFaults({ dupliacte: 1 })],
    [
      "Unknown option 'delay' in faults.delay. It takes rate, seed, times, ms",
      ({ setFaults }) => setFaults({ delay: { rate: 1, delay: 9 } }),
    ],
    [
      "Unknown option 'at' in faults.drop. Did you mean 'rate'?",
      ({ setFaults }) => setFaults({ drop: { rate: 1, at: 'answer' } }),
    ],
  ])('a method refuses its arguments: %s', async (message, call) => {
    await expectRefusal(() => call(emulator as unknown as Loose), message);
    await isAlive();
  });

  it('after an invalid port, listen can be called again', async () => {
    const other = createEmulator();
    await expect(other.listen(-1)).rejects.toThrow('port must be from 0 to 65535');
    await other.listen();
    await other.close();
  });
});

/** The id of a new endpoint. */
const made = ({ endpoints }: Loose) => (endpoints.create({ url: 'https://app.example/' }) as { id: string }).id;

/** The emulator without its types. */
type Call = (...given: unknown[]) => unknown;
interface Loose extends Record<'emit' | 'advance' | 'script' | 'setFaults', Call> {
  endpoints: Record<string, Call> & Record<'create' | 'pause', Call>;
  accounts: Record<string, Call> & Record<'create', Call>;
  deliveries: Record<'list', Call>;
  attempts: Record<'list', Call>;
  keys: Record<'create' | 'revoke', Call>;
}

async function expectRefusal(call: () => unknown, message: string): Promise<void> {
  const error = await Promise.resolve()
    .then(call)
    .then(
      () => undefined,
      (thrown) => thrown,
    );
  expect(isWebhookError(error) && error.message.startsWith(message), `${error}`).toBe(true);
}
