import { expect, it } from 'vitest';
import { agoOf } from '../../../src/page/front/ago-of.js';

const HOUR = 3_600_000;

it.each([
  [-5, 'now'],
  [999, 'now'],
  [12_000, '12 s ago'],
  [119_000, '1 min ago'],
  [64 * 60_000 + 30_000, '1 h 4 min ago'],
  [2 * HOUR, '2 h ago'],
  [47 * HOUR, '47 h ago'],
  [48 * HOUR, '2 d ago'],
  [5 * 24 * HOUR + 3 * HOUR, '5 d 3 h ago'],
])('a time %i ms ago is said in at most two units: %s', (ms, text) => {
  expect(agoOf(ms)).toBe(text);
});
