import { toCurl, toInject, toRequest, toSupertest } from 'service-webhooks/testing';
import { describe, expect, it } from 'vitest';
import { refusal } from '../support/deliveries.js';

const delivery = { method: 'POST', headers: { 'x-sent': 'yes' }, body: Uint8Array.of(0, 255) };

describe('a Request', () => {
  it.each(['http://receiver.test/in', new URL('http://receiver.test/in')])(
    'has all that is sent, to %s',
    async (url) => {
      const request = toRequest(delivery, url);
      expect([request.method, request.url, request.headers.get('x-sent')]).toEqual([
        'POST',
        'http://receiver.test/in',
        'yes',
      ]);
      expect(new Uint8Array(await request.arrayBuffer())).toEqual(delivery.body);
    },
  );

  it('goes to an absolute URL', () => {
    expect(refusal(() => toRequest(delivery, '/webhooks'))).toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('url must be absolute'),
    });
  });
});

it('what Fastify injects is all that is sent, with the bytes in a Buffer and headers of its own', () => {
  const injected = toInject(delivery, '/in');
  expect(injected).toEqual({ method: 'POST', url: '/in', headers: delivery.headers, payload: Buffer.of(0, 255) });
  expect(injected.headers).not.toBe(delivery.headers);
});

it('supertest is given the headers, and bytes that it sends as they are', () => {
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

describe('a curl line', () => {
  it.each([
    ['{"a": "~"}', `'{"a": "~"}'`],
    ["it's", `'it'\\''s'`],
    ['', "''"],
  ])('has a plain body in it: %s', (body, quoted) => {
    expect(aLine(body)).toBe(`${CURL} --data-raw ${quoted}`);
  });

  it.each([
    ['{}\n', '{}\\012'],
    ['\u007f', '\\177'],
    ['\u0000\u00e9', '\\000\\303\\251'],
    ['100% \\ ~\n', '100\\045 \\134 ~\\012'],
    ['-v -v\n', '\\055v -v\\012'],
    ["it's\n", "it'\\''s\\012"],
  ])('is given any other body by printf: %j', (body, format) => {
    expect(aLine(body)).toBe(`printf '${format}' | ${CURL} --data-binary @-`);
  });

  it('is given a body that is too long for an argument by printf', () => {
    expect(aLine('x'.repeat(99_999))).toMatch(/^curl /);
    expect(aLine('x'.repeat(100_000))).toMatch(/^printf /);
  });

  it('keeps a header that is empty, and one that would end the quotes', () => {
    expect(aLine('', { 'x-empty': '', 'x-quoted': `it's ";` })).toContain(`-H 'x-empty;' -H 'x-quoted: it'\\''s ";'`);
  });

  it('may go to https', () => {
    expect(aLine('', {}, 'https://localhost')).toContain(`--url 'https://localhost/'`);
  });

  it.each(['', '/webhooks', 'file:///etc/hostname', 'xhttp://localhost'])('goes to no such URL: %j', (url) => {
    expect(refusal(() => aLine('', {}, url))).toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('url must be http or https'),
    });
  });

  it.each<[name: string, value: string]>([
    ['a', 'b\r\nc: d'],
    ['a', '\u00e9'],
    ['@/etc/hostname', ''],
    ['a:', 'b'],
    [' a', 'b'],
    ['', 'b'],
  ])('has no such header: %j, %j', (name, value) => {
    expect(refusal(() => aLine('', { [name]: value }))).toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('headers must be plain ASCII'),
    });
  });
});
