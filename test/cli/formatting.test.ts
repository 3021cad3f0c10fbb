import { describe, expect, it } from 'vitest';
import { counted, shortened, timeOfDay } from '../../src/cli/formatting.js';

describe('a text that may be long', () => {
  it('a text is cut behind the length that was asked for, with a mark', () => {
    expect(shortened('abcd', 3)).toBe('abc…');
    expect(shortened('abc', 3)).toBe('abc');
    expect(shortened('x'.repeat(201))).toBe(`${'x'.repeat(200)}…`);
  });
});

describe('a number of things', () => {
  it.each([
    [0, '0 requests'],
    [1, '1 request'],
    [2, '2 requests'],
  ])('of %i is written %s', (count, text) => {
    expect(counted(count, 'request')).toBe(text);
  });

  it('has a plural of its own where an s is not enough', () => {
    expect([counted(1, 'delivery', 'deliveries'), counted(2, 'delivery', 'deliveries')]).toEqual([
      '1 delivery',
      '2 deliveries',
    ]);
  });
});

it('a time of day is in UTC, without the date', () => {
  expect(timeOfDay(Date.UTC(2026, 6, 11, 12, 3, 4, 999))).toBe('12:03:04Z');
});
