import { expect, it } from 'vitest';
import { counted, dateAndTimeOf, timeOf } from '../../../src/page/front/format.js';

it('the page shows a time in UTC, with a Z', () => {
  const afterMidnight = Date.UTC(2026, 6, 11, 0, 5, 9);
  expect(timeOf(afterMidnight)).toBe('00:05:09Z');
  expect(dateAndTimeOf(afterMidnight)).toBe('2026-07-11 00:05:09Z');
});

it('a count has the plural unless it is one', () => {
  expect([0, 1, 2].map((count) => counted(count, 'attempt'))).toEqual(['0 attempts', '1 attempt', '2 attempts']);
  expect(counted(2, 'delivery', 'deliveries')).toBe('2 deliveries');
});
