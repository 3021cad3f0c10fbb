import type { Script } from 'service-webhooks-emulator';
import { describe, expect, it } from 'vitest';
import { createScripts } from '../../src/api/scripts.js';

/** A script as `find` returns it. */
function ready(script: Omit<Script, 'path'>) {
  const scripts = createScripts();
  scripts.add({ path: '/v1', ...script });
  const { use: _, ...found } = scripts.find(script.method ?? 'GET', '/v1') ?? expect.unreachable();
  return found;
}

describe('createScripts', () => {
  it('a script answers any method with 200 and without a key by default', () => {
    expect(ready({})).toEqual({
      ...{ status: 200, error: undefined, headers: {}, body: undefined, authenticate: false, scope: undefined },
    });
    const scripts = createScripts();
    scripts.add({ path: '/v1/{id}' });
    expect(['GET', 'POST', 'BREW'].map((method) => scripts.find(method, '/v1/a')?.status)).toEqual([200, 200, 200]);
    expect(scripts.find('GET', '/v2/a')).toBe(undefined);
  });

  it('the method of a script may be written in lower case', () => {
    const scripts = createScripts();
    scripts.add({ path: '/v1', method: 'post' });
    expect([scripts.find('POST', '/v1')?.status, scripts.find('GET', '/v1')]).toEqual([200, undefined]);
  });

  it('the latest script answers until it is removed', () => {
    const scripts = createScripts();
    const found = () => scripts.find('GET', '/v1')?.status;
    const removals = [201, 202, 203].map((status) => scripts.add({ path: '/v1', status }));
    expect(found()).toBe(203);
    removals[1]?.();
    expect(found()).toBe(203);
    removals[2]?.();
    removals[2]?.();
    expect(found()).toBe(201);
    removals[0]?.();
    expect(found()).toBe(undefined);
  });

  it('a script is removed after its last use', () => {
    const scripts = createScripts();
    const use = () => scripts.find('GET', '/v1')?.use();
    scripts.add({ path: '/v1', times: 2 });
    use();
    expect(scripts.find('GET', '/v1')).toBeDefined();
    use();
    expect(scripts.find('GET', '/v1')).toBe(undefined);
    scripts.add({ path: '/v1' });
    for (let i = 0; i < 5; i += 1) use();
    expect(scripts.find('GET', '/v1')).toBeDefined();
  });

  it('a script with a scope requires a key, and authenticate requires one without a scope', () => {
    expect(ready({ scope: 'a:read' })).toMatchObject({ authenticate: true, scope: 'a:read' });
    expect(ready({ scope: 'a:read', authenticate: false })).toMatchObject({ authenticate: false, scope: 'a:read' });
    expect(ready({ authenticate: true })).toMatchObject({ authenticate: true, scope: undefined });
  });

  it('text and bytes are sent unchanged, and every other body as JSON', () => {
    const bytes = Uint8Array.from([1, 2]);
    expect([ready({ body: '{' }).body, ready({ body: bytes }).body]).toEqual(['{', bytes]);
    expect([ready({ body: { a: 1 } }).body, ready({ body: null }).body, ready({ body: '' }).body]).toEqual([
      '{"a":1}',
      'null',
      '',
    ]);
  });

  it('header names are lower-case and their values text', () => {
    expect(ready({ headers: { 'X-A': 'B', 'x-n': 7 as never } }).headers).toEqual({ 'x-a': 'B', 'x-n': '7' });
  });

  it('an error has the fields of the table unless the script replaces them', () => {
    const row = { code: 'not_found', type: 'invalid_request_error', status: 404 };
    expect(ready({ error: 'not_found' })).toMatchObject({
      status: 404,
      error: { ...row, message: "Unknown id or another account's resource." },
    });
    const own = { code: 'not_found', message: 'No.', param: 'id', type: 'api_error', status: 410 } as const;
    expect(ready({ error: own })).toMatchObject({ status: 410, error: own });
    expect(ready({ error: { code: 'not_found', message: 'No.' } }).error).toMatchObject({ ...row, message: 'No.' });
  });

  it('an unknown error code has the fields that the script sets', () => {
    const error = { code: 'brand_new', type: 'api_error', status: 503 } as const;
    expect(ready({ error })).toMatchObject({ status: 503, error: { ...error, message: 'brand_new' } });
    const { code, type } = error;
    expect(ready({ error: { code, type }, status: 502 })).toMatchObject({ status: 502, error: { status: 502 } });
  });

  it('the status of a script takes precedence over that of its error', () => {
    expect(ready({ error: 'not_found', status: 410 })).toMatchObject({ status: 410, error: { status: 410 } });
    const own = { code: 'not_found', status: 404 } as const;
    expect(ready({ error: own, status: 410 })).toMatchObject({ status: 410, error: { status: 410 } });
  });

  it.each([{ status: 200 }, { status: 599 }, { times: 1 }, { headers: { 'x-a': '' } }])(
    'the script %j is accepted',
    (script) => {
      expect(() => ready(script)).not.toThrow();
    },
  );

  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;

  it.each<[message: string, script: unknown]>([
    ['script must be an object', null],
    ['method must be like GET', { path: '/v1', method: '' }],
    ['method must be like GET', { path: '/v1', method: 7 }],
    ['path must begin with a slash', { path: 'v1/' }],
    ['path must begin with a slash', {}],
    ['path must be without a query: no route reads it', { path: '/v1?a' }],
    ['path must be without a query: no route reads it', { path: '/v1#a' }],
    ['headers must be an object', { path: '/v1', headers: null }],
    ['headers."a b" cannot be sent', { path: '/v1', headers: { ok: 'a', 'A b': 'c' } }],
    ['headers."a" cannot be sent', { path: '/v1', headers: { a: 'b\nc' } }],
    ['times must be a positive integer', { path: '/v1', times: 0 }],
    ['status must be from 200 to 599', { path: '/v1', status: 199 }],
    ['status must be from 200 to 599', { path: '/v1', status: 600 }],
    ['status must be from 200 to 599', { path: '/v1', status: 200.5 }],
    ['body cannot be written as JSON', { path: '/v1', body: cyclic }],
    ['body cannot be written as JSON', { path: '/v1', body: () => {} }],
    ['error must be an object', { path: '/v1', error: null }],
    ['error: brand_new is not in the table, so give its type and status', { path: '/v1', error: 'brand_new' }],
    ['error: toString is not in the table', { path: '/v1', error: 'toString' }],
    ['error: new is not in the table', { path: '/v1', error: { code: 'new', type: 'api_error' } }],
    ['error: new is not in the table', { path: '/v1', error: { code: 'new', status: 500 } }],
  ])('the message "%s" refuses the script %o', (message, script) => {
    expect(() => createScripts().add(script as Script)).toThrow(message);
  });
});
