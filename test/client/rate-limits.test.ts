import { describe, expect, it } from 'vitest';
import { readRetryAfter } from '../../src/client/rate-limits.js';
import { START } from './clients.js';

describe('readRetryAfter', () => {
  const at = (ms: number) => new Date(START + ms).toUTCString();

  it.each<[value: string | null, seconds: number | undefined]>([
    [null, undefined],
    ['0', 0],
    ['7', 7],
    ['86400', 86_400],
    ['86401', 86_400],
    ['100000000000', 86_400],
    ['9'.repeat(400), 86_400],
    [at(9_000), 9],
    [at(-9_000), 0],
    [at(3 * 86_400_000), 86_400],
    ['Fri, 31 Dec 9999 23:59:59 GMT', 86_400],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ])('the value %j means %j seconds, never more than a day', (value, seconds) => {
    expect(readRetryAfter(value, START)).toBe(seconds);
  });

  it.each([
    '',
    ' ',
    'soon',
    '-5',
    '-100000000000',
    '1.5',
    '1e11',
    'NaN',
    'Infinity',
    '7, 8',
    'Saturday, 21 Nov 2026 13:00:00 GMT',
    'Sat, 21',
    'Sat, 99 Nov 2026 13:00:00 GMT',
    '2026-11-21T13:00:00Z',
    'Sat, 21 Nov 2026 13:00:00 GMT'.repeat(1000),
  ])('the value %j is ignored', (value) => {
    expect(readRetryAfter(value, START)).toBeUndefined();
  });
});
