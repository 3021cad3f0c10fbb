import { expect, it } from 'vitest';
import { counted, dateAndTimeOf, durationOf, timeOf } from '../../../src/page/front/format.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

it.each([
  [-5, '0 ms'],
  [0, '0 ms'],
  [79.6, '80 ms'],
  [999, '999 ms'],
  [1_000, '1 s'],
  [12_900, '12 s'],
  [MINUTE, '1 min'],
  [90_000, '1 min 30 s'],
  [HOUR, '1 h'],
  [HOUR + 59_999, '1 h'],
  [HOUR + 30 * MINUTE, '1 h 30 min'],
  [25 * HOUR + MINUTE + 1_000, '25 h 1 min'],
])('a duration of %i ms is written %s', (ms, words) => {
  expect(durationOf(ms)).toBe(words);
});

it('the page shows a time in UTC, with a Z', () => {
  const afterMidnight = Date.UTC(2026, 6, 11, 0, 5, 9);
  expect(timeOf(afterMidnight)).toBe('00:05:09Z');
  expect(dateAndTimeOf(afterMidnight)).toBe('2026-07-11 00:05:09Z');
});

it('a count has the plural unless it is one', () => {
  expect([0, 1, 2].map((count) => counted(count, 'attempt'))).toEqual(['0 attempts', '1 attempt', '2 attempts']);
  expect(counted(2, 'delivery', 'deliveries')).toBe('2 deliveries');
});
