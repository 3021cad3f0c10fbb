import { toCurl } from 'service-webhooks/testing';
import { describe, expect, it } from 'vitest';
import { refusal } from '../../support/deliveries.js';

const URL = 'http://localhost/webhooks';
const CURL = `curl -i -g --url '${URL}' -H 'x-sent: yes'`;

const aLine = (body: string, headers: Record<string, string> = { 'x-sent': 'yes' }, url = URL) =>
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
