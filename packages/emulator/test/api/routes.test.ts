import { describe, expect, it } from 'vitest';
import { matchPath } from '../../src/api/routes.js';

describe('matchPath for routes of the emulator', () => {
  it.each<[pattern: string, path: string, values: string[] | undefined]>([
    ['/v1/jobs', '/v1/jobs', []],
    ['/v1/jobs/{id}', '/v1/jobs/a', ['a']],
    ['/v1/{kind}/a/{id}', '/v1/jobs/a/b', ['jobs', 'b']],
    ['/v1/jobs/{id}', '/v1/jobs/{id}', ['{id}']],
    ['/v1/jobs', '/v1/Jobs', undefined],
    ['/v1/jobs', '/v1/jobs/', undefined],
    ['/v1/jobs/{id}', '/v1/jobs', undefined],
    ['/v1/jobs/{id}', '/v1/jobs/', undefined],
    ['/v1/jobs/{id}', '/v1/jobs/a/b', undefined],
    ['/v1/jobs/{id', '/v1/jobs/a', undefined],
    ['/v1/jobs/id}', '/v1/jobs/a', undefined],
    ['/v1/jobs/{id', '/v1/jobs/{id', []],
  ])('the pattern %s takes from the path %s the values %j', (pattern, path, values) => {
    expect(matchPath(pattern, path)).toEqual(values);
  });
});
