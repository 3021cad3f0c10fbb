import { describe, expect, it } from 'vitest';
import { createRoutes, routeArgument } from '../../../src/commands/listen/routes.js';

const [app, other, third] = ['http://a/', 'http://b/', 'http://c/'].map((url) => new URL(url)) as [URL, URL, URL];
const hosts = (urls: readonly URL[]) => urls.map(({ host }) => host).join('');

describe('the routes of listen', () => {
  it('a type with a route goes to its app, and every other type to the default apps', () => {
    const routes = createRoutes([app], [{ pattern: 'stt.*', url: other }]);
    expect(hosts(routes.targets('stt.failed'))).toBe('b');
    expect(hosts(routes.targets('generation.failed'))).toBe('a');
    expect(hosts(routes.targets(undefined))).toBe('a');
  });

  it('a type with several routes goes to all of their apps', () => {
    const [stt, failed] = [{ pattern: 'stt.*', url: other }, { pattern: '*.failed', url: third }]; // biome-ignore format: two routes
    const routes = createRoutes([app], [stt, failed]);
    expect(hosts(routes.targets('stt.failed'))).toBe('bc');
  });

  it('several default apps each get a delivery, and each app is listed once', () => {
    const routes = createRoutes([app, other], [{ pattern: 'stt.*', url: other }]);
    expect(hosts(routes.targets('export.failed'))).toBe('ab');
    expect(hosts(routes.apps)).toBe('ab');
  });

  it.each([
    ['stt.failed', 'stt.failed', true],
    ['stt.failed', 'stt.failedx', false],
    ['*', '', true],
    ['a*', 'b', false],
    ['a*a', 'a', false],
    ['a*b*c', 'a-b-c', true],
    ['a*b*c', 'a-c', false],
    ['a*b*b', 'ab', false],
    ['stt.*', 'sttx', false],
  ])('a route with the pattern %s matches the type %j: %s', (pattern, type, matching) => {
    expect(createRoutes([], [{ pattern, url: app }]).targets(type)).toHaveLength(matching ? 1 : 0);
  });

  it('a long type in a forged request is matched in linear time', () => {
    const routes = createRoutes([], [{ pattern: '*a*a*a*a*b', url: app }]);
    expect(routes.targets('a'.repeat(1_000_000))).toEqual([]);
  });

  it('--route without types or without an app is refused', () => {
    expect(routeArgument('stt.*=3000/a', [])).toEqual([{ pattern: 'stt.*', app: '3000/a' }]);
    for (const text of ['3000', '=3000', 'stt.*=', 'a b=3000'])
      expect(() => routeArgument(text)).toThrow('generation.*');
  });
});
