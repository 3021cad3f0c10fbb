import { expect, it } from 'vitest';
import { durationOf } from '../src/duration.js';

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
  [48 * HOUR - 1, '47 h 59 min'],
  [53 * HOUR + 59 * MINUTE, '2 d 5 h'],
  [72 * HOUR, '3 d'],
])('a duration of %i ms is written %s', (ms, words) => {
  expect(durationOf(ms)).toBe(words);
});
