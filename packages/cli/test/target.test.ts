import { describe, expect, it } from 'vitest';
import { failureOf } from '../../../test/support/failures.js';
import { parseApp, parseTarget, withPathOf } from '../src/target.js';

describe('the target URL of a command', () => {
  it.each([
    [undefined, 'http://127.0.0.1:4747/'],
    ['3000', 'http://localhost:3000/'],
    [':3000', 'http://localhost:3000/'],
    ['3000/hook', 'http://localhost:3000/hook'],
    [':3000/hook?a=b', 'http://localhost:3000/hook?a=b'],
    ['3000/', 'http://localhost:3000/'],
    ['localhost:3000/hook', 'http://localhost:3000/hook'],
    ['example.test', 'http://example.test/'],
    ['3000.example.test', 'http://3000.example.test/'],
    ['http://h/a?b=c#d', 'http://h/a?b=c'],
    ['https://h/', 'https://h/'],
  ])('the target %j is read as %s', (text, href) => {
    expect(parseTarget(text).href).toBe(href);
  });

  it.each([
    ['http://', 'http:// is no port and no URL: 3000, 3000/path, or http://host:3000/path.'],
    ['99999', '99999 is no port and no URL: 3000, 3000/path, or http://host:3000/path.'],
    ['ftp://h', 'ftp: cannot be sent to: http: or https:.'],
    ['xhttp://h', 'xhttp: cannot be sent to: http: or https:.'],
    ['httpx://h', 'httpx: cannot be sent to: http: or https:.'],
    ['http://me@h', 'the URL has a password in it, which everyone on the machine sees: take it out.'],
    ['http://:word@h', 'the URL has a password in it, which everyone on the machine sees: take it out.'],
  ])('the target %j is refused: %s', (text, says) => {
    expect(failureOf(() => parseTarget(text))).toBe(`2: ${says}`);
  });

  it.each([
    ['http://h', '/a?b=c', 'http://h/a?b=c'],
    ['http://h', '/a', 'http://h/a'],
    ['http://h', '/a?b?c', 'http://h/a?b?c'],
    ['http://h', '*', 'http://h/'],
    ['http://h/own', '/a?b', 'http://h/own'],
    ['http://h/?own', '/a?b', 'http://h/?own'],
  ])('the target %s with the path %s of the settings becomes %s', (target, path, href) => {
    expect(withPathOf(new URL(target), path).href).toBe(href);
  });

  it('the URL object that is passed in is not changed', () => {
    const target = new URL('http://h');
    withPathOf(target, '/a');
    expect(target.href).toBe('http://h/');
  });

  it.each([
    ['3000', undefined, 'http://localhost:3000/webhooks'],
    [':3000', undefined, 'http://localhost:3000/webhooks'],
    ['3000', '/hooks?a=b', 'http://localhost:3000/hooks?a=b'],
    ['3000/', '/hooks', 'http://localhost:3000/'],
    ['3000/other', '/hooks', 'http://localhost:3000/other'],
    ['http://localhost:3000/', '/hooks', 'http://localhost:3000/'],
    ['localhost:3000', undefined, 'http://localhost:3000/'],
  ])('the target %s of a delivery with the path %s in service-webhooks.json is %s', (text, path, href) => {
    expect(parseApp({ config: path === undefined ? {} : { path } }, text).href).toBe(href);
  });

  it.each(['//evil.test/hooks', '/\\evil.test/hooks'])(
    'the path %s of service-webhooks.json does not change the host of the command line',
    (path) => {
      const url = parseApp({ config: { path } }, '3000');
      expect([url.host, url.pathname]).toEqual(['localhost:3000', '//evil.test/hooks']);
    },
  );
});
