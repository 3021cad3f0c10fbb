import { connect } from 'node:net';
import { createEmulator, type Emulator } from 'service-webhooks-emulator';
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
const chunked = (chunks: string) => post('Transfer-Encoding: chunked\r\n', chunks);
const postJson = (json: string) => post(`Content-Length: ${json.length}\r\n`, json);

describe('malformed and unusual requests to the emulator', () => {
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
    ['with an invalid chunk', '400 invalid_request', () => chunked('Z\r\n')],
    ['with an invalid second chunk', '400 invalid_request', () => chunked('2\r\n{}\r\nZ\r\n')],
    ['with a length over the edge', '413 file_too_large', () => post(`Content-Length: ${300 * MIB}\r\n`, 'x')],
    ['whose body does not arrive', '408 request_timeout', () => post('Content-Length: 5\r\n', '{')],
    [
      'with its key after the body',
      '401 missing_api_key',
      () => chunked(`2\r\n{}\r\n0\r\n${key}\r\n`).replace(key, ''),
    ],
  ])('a request %s is answered with %s, and the next request succeeds', async (_, answer, bytes) => {
    expect(await answerTo(bytes())).toBe(answer);
    await isAlive();
  });
});

describe('hostile JSON sent to the emulator', () => {
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

  it('the refusal does not repeat a long value of the body', async () => {
    const { body } = await exchange(port, Buffer.from(postJson(settings(`["${'a'.repeat(900_000)}"]`))));
    expect(body.length).toBeLessThan(1_000);
  });
});

describe('clients of the emulator that disconnect', () => {
  it.each([
    ['in the head', 'POST /api'],
    ['in the body', 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\nx'],
    ['before its answers', 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(50)],
  ])('the server still answers after 50 clients disconnect %s', async (_, bytes) => {
    const leave = () =>
      new Promise<void>((resolve) => {
        const socket = connect(port, '127.0.0.1', () => socket.write(bytes, () => socket.resetAndDestroy()));
        socket.on('error', () => {}).on('close', () => resolve());
      });
    await Promise.all(Array.from({ length: 50 }, leave));
    await isAlive();
  });
});

describe('scripted answers of the emulator that cannot be sent', () => {
  it.each([
    ['a wrong length', { headers: { 'content-length': '3' }, body: 'longer than that' }],
    ['two framings', { headers: { 'content-length': '3', 'transfer-encoding': 'chunked' }, body: 'abc' }],
    ['a body for a status without one', { status: 304, body: 'abc' }],
  ])('the next request is answered after one whose script has %s', async (_, script) => {
    emulator.script({ path: '/v1/voices', ...script });
    await exchange(port, Buffer.from(get(key, '/v1/voices'))).catch(() => {});
    await isAlive();
  });
});
