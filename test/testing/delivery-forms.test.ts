import { toCurl, toInject, toRequest, toSupertest } from 'service-webhooks/testing';
import { describe, expect, it } from 'vitest';
import { refusal } from '../support/deliveries.js';

const delivery = { method: 'POST', headers: { 'x-sent': 'yes' }, body: Uint8Array.of(0, 255) };

const refusalOf = (call: () => unknown) => {
  const { code, message } = refusal(call);
  return `${code}: ${message}`;
};

describe('toRequest of the test kit', () => {
  const url = 'http://receiver.test/in';

  it.each([url, new URL(url)])('a Request to %s has the method, headers and bytes of the delivery', async (to) => {
    const request = toRequest(delivery, to);
    expect([request.method, request.url, request.headers.get('x-sent')]).toEqual(['POST', url, 'yes']);
    expect(new Uint8Array(await request.arrayBuffer())).toEqual(delivery.body);
  });

  it('a relative URL is refused', () => {
    expect(refusalOf(() => toRequest(delivery, '/webhooks'))).toMatch(/^invalid_option: .*url must be absolute/);
  });
});

it('toInject gives Fastify the method, bytes and a copy of the headers of a delivery', () => {
  const injected = toInject(delivery, '/in');
  expect(injected).toEqual({ method: 'POST', url: '/in', headers: delivery.headers, payload: Buffer.of(0, 255) });
  expect(injected.headers).not.toBe(delivery.headers);
});

it('toSupertest makes supertest send the headers and bytes of a delivery unchanged', () => {
  const given: unknown[] = [];
  toSupertest(delivery)({
    set: (headers) => given.push(headers),
    serialize: (serializer) => given.push(serializer('anything else')),
    send: (body) => given.push(body),
  });
  const bytes = Buffer.of(0, 255);
  expect(given).toEqual([delivery.headers, bytes, bytes]);
});

const TARGET = 'http://localhost/webhooks';
const CURL = `curl -i -g --url '${TARGET}' -H 'x-sent: yes'`;

const aLine = (body: string, headers: Record<string, string> = { 'x-sent': 'yes' }, url = TARGET) =>
  toCurl({ method: 'POST', headers, body: new TextEncoder().encode(body) }, url);

describe('toCurl of the test kit', () => {
  it.each([
    ['{"a": "~"}', `'{"a": "~"}'`],
    ["it's", `'it'\\''s'`],
    ['', "''"],
  ])('a plain ASCII body is an argument of the curl line: %s', (body, quoted) => {
    expect(aLine(body)).toBe(`${CURL} --data-raw ${quoted}`);
  });

  it.each([
    ['{}\n', '{}\\012'],
    ['\u007f', '\\177'],
    ['\u0000\u00e9', '\\000\\303\\251'],
    ['100% \\ ~\n', '100\\045 \\134 ~\\012'],
    ['-v -v\n', '\\055v -v\\012'],
    ["it's\n", "it'\\''s\\012"],
  ])('any other body is piped from printf: %j', (body, format) => {
    expect(aLine(body)).toBe(`printf '${format}' | ${CURL} --data-binary @-`);
  });

  it('a body of 100,000 bytes, too long for an argument, is piped from printf', () => {
    expect(aLine('x'.repeat(99_999))).toMatch(/^curl /);
    expect(aLine('x'.repeat(100_000))).toMatch(/^printf /);
  });

  it('an empty header and a header with quotes are sent as they are', () => {
    expect(aLine('', { 'x-empty': '', 'x-quoted': `it's ";` })).toContain(`-H 'x-empty;' -H 'x-quoted: it'\\''s ";'`);
  });

  it('an https URL is accepted', () => {
    expect(aLine('', {}, 'https://localhost')).toContain(`--url 'https://localhost/'`);
  });

  it.each(['', '/webhooks', 'file:///etc/hostname', 'xhttp://localhost'])('the URL %j is refused', (url) => {
    expect(refusalOf(() => aLine('', {}, url))).toMatch(/^invalid_option: .*url must be http or https/);
  });

  it.each([
    ['a', 'b\r\nc: d'],
    ['a', '\u00e9'],
    ['@/etc/hostname', ''],
    ['a:', 'b'],
    [' a', 'b'],
    ['', 'b'],
  ])('the header %j with the value %j is refused', (name, value) => {
    expect(refusalOf(() => aLine('', { [name]: value }))).toMatch(/^invalid_option: .*headers must be plain ASCII/);
  });
});
