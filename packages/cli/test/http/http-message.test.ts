import { sign } from 'service-webhooks';
import { asSpecified } from 'service-webhooks/testing';
import { describe, expect, it } from 'vitest';
import { NOW, SECRET } from '../../../../test/support/deliveries.js';
import {
  formatHttp,
  type HttpMessage,
  headerValue,
  parseHeader,
  parseHttp,
  resign,
} from '../../src/http/http-message.js';

const aMessage = (changes: Partial<HttpMessage> = {}): HttpMessage => ({
  ...{ method: 'POST', path: '/hook?a=1', headers: [['X-One', 'ü']], body: Buffer.from([0, 13, 10, 255]) },
  ...changes,
});
const parsed = (text: string) => parseHttp(Buffer.from(text, 'latin1'), 'a.http');

describe('a request as a .http file', () => {
  it('the file has the request line, the headers, an empty line and the body', () => {
    expect(formatHttp(aMessage({ body: Buffer.from('ab') })).toString('latin1')).toBe(
      'POST /hook?a=1 HTTP/1.1\r\nX-One: ü\r\nContent-Length: 2\r\n\r\nab',
    );
  });

  it('the Content-Length of the sender is kept', () => {
    const headers = [['content-length', '99']] as const;
    expect(parseHttp(formatHttp(aMessage({ headers })), 'a.http').headers).toEqual(headers);
  });

  it('Transfer-Encoding is replaced by Content-Length', () => {
    const { headers } = parseHttp(formatHttp(aMessage({ headers: [['Transfer-Encoding', 'chunked']] })), 'a.http');
    expect(headers).toEqual([['Content-Length', '4']]);
  });

  it('a written request is read back unchanged', () => {
    const given = aMessage({
      headers: [
        ['B', '1'],
        ['a', 'é, b'],
        ['B', ''],
        ['Content-Length', '4'],
      ],
    });
    const { body, ...rest } = parseHttp(formatHttp(given), 'a.http');
    expect({ ...rest, body: [...body] }).toEqual({ ...given, body: [...given.body] });
  });

  it('line feeds alone end the headers, and everything behind the empty line is the body', () => {
    const { method, path, headers, body } = parsed('PUT / HTTP/1.0\nA: 1\nContent-Length: 1\n\n\na\n\nb');
    expect({ method, path, headers, body: Buffer.from(body).toString() }).toEqual({
      ...{ method: 'PUT', path: '/', body: '\na\n\nb' },
      headers: [
        ['A', '1'],
        ['Content-Length', '1'],
      ],
    });
  });

  it.each([
    ['nothing', ''],
    ['something before the method', ' POST / HTTP/1.1\r\n\r\n'],
    ['a method in small letters', 'post / HTTP/1.1\r\n\r\n'],
    ['no path', 'POST HTTP/1.1\r\n\r\n'],
    ['something behind the version', 'POST / HTTP/1.1 x\r\n\r\n'],
    ['another version', 'POST / HTTP/2.0\r\n\r\n'],
    ['an empty line first', '\r\n\r\nPOST / HTTP/1.1\r\n\r\n'],
  ])('a text with %s is refused', (_, text) => {
    expect(() => parsed(text)).toThrow(
      'a.http: no captured delivery, which begins with a line like POST /webhooks HTTP/1.1; for a body alone, give its headers.',
    );
  });

  it('a file that ends inside its headers is refused with that reason', () => {
    expect(() => parsed('POST / HTTP/1.1\r\nA: b\r\n')).toThrow(
      'a.http: the headers have no end, so the file is cut off.',
    );
  });

  it('headers of more than a mebibyte are refused', () => {
    const long = (bytes: number) => `POST / HTTP/1.1\r\nA: ${'x'.repeat(bytes)}\r\n\r\n`;
    expect(parsed(long(1024 * 1024 - 30)).headers).toHaveLength(1);
    expect(() => parsed(long(1024 * 1024))).toThrow('the headers have no end');
  });
});

describe('a header line of --header or a file', () => {
  it.each([
    ['A: b', 'A', 'b'],
    ["a-b_c.d!#$%&'*+^`|~9:b: c", "a-b_c.d!#$%&'*+^`|~9", 'b: c'],
    ['A: \t b c \t ', 'A', 'b c'],
    ['A:', 'A', ''],
    ['A:   ', 'A', ''],
  ])('the line %j is read as a name and a value', (line, name, value) => {
    expect(parseHeader(line)).toEqual([name, value]);
  });

  it.each(['', 'A', ': b', 'A b: c', ' A: b', 'ä: b', 'A : b', 'A: b\nc'])('the line %j is refused', (line) => {
    expect(() => parseHeader(line)).toThrow(`${JSON.stringify(line)} is no header: Name: value.`);
  });

  it('the error shows a long line only in part', () => {
    expect(() => parseHeader('x'.repeat(90))).toThrow(`"${'x'.repeat(80)}" is no header: Name: value.`);
  });

  it('the first header of a name is found, in any letter case', () => {
    const headers = [
      ['X-A', '1'],
      ['x-a', '2'],
    ] as const;
    expect(headerValue(headers, 'x-a')).toBe('1');
    expect(headerValue(headers, 'x-b')).toBeUndefined();
  });
});

const body = Buffer.from('{}');
const message = {
  ...{ method: 'POST', path: '/', body },
  headers: [
    ['X-Other', 'a'],
    ['x-service-signature', 'old'],
    ['X-SERVICE-SIGNATURE-V2', 'old'],
    ['X-Service-Timestamp', '1'],
    ['X-Service-Attempt', '1'],
    ['Idempotency-Key', 'key'],
  ] as const,
};
const signed = (headerPrefix: string) => {
  const headers = asSpecified(sign({ body, secret: SECRET, at: NOW, headerPrefix }));
  expect(headers).toHaveLength(2);
  return headers;
};

describe('a captured request that is signed again', () => {
  it('the headers of the old signature are replaced, and the others kept', () => {
    const at = NOW + 999;
    expect(resign(message, { secret: SECRET, at, headerPrefix: 'X-Service' })).toEqual([
      ['X-Other', 'a'],
      ['X-Service-Attempt', '1'],
      ['Idempotency-Key', 'key'],
      ...signed('x-service'),
      ['X-Service-Timestamp', String(NOW / 1000)],
    ]);
  });

  it('the number of the attempt can be set', () => {
    const headers = resign(message, { secret: SECRET, at: NOW, headerPrefix: 'x-service', attempt: 3 });
    expect(headers.filter(([name]) => name === 'X-Service-Attempt')).toEqual([['X-Service-Attempt', '3']]);
  });

  it('the names of the signature headers have the given prefix', () => {
    const headers = resign(message, { secret: SECRET, at: NOW, headerPrefix: 'My-App' });
    expect(headers).toEqual([...message.headers, ...signed('my-app'), ['My-App-Timestamp', String(NOW / 1000)]]);
  });
});
