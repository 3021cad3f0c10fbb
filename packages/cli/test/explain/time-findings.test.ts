import { describe, expect, it } from 'vitest';
import { NOW } from '../../../../test/support/deliveries.js';
import { timeFindings } from '../../src/explain/time-findings.js';

const T = NOW / 1000;
const DAY = 86_400;

/** By a clock that shows so many seconds after the time that was signed. */
const found = (
  seconds: number,
  { toleranceSeconds, shown = true }: { toleranceSeconds?: number; shown?: boolean } = {},
) =>
  timeFindings(T, { now: NOW + seconds * 1000, toleranceSeconds, shown }).map(({ cause, certainty, evidence }) => [
    cause,
    certainty,
    evidence,
  ]);

describe('the findings of explain on a signed time and the clock', () => {
  it.each([0, 300, -300])('%i s apart are within the tolerance', (seconds) => {
    expect(found(seconds)).toEqual([]);
  });

  it('the tolerance of the caller counts', () => {
    expect(found(10, { toleranceSeconds: 10 })).toEqual([]);
    expect(found(-11, { toleranceSeconds: 10 })).toHaveLength(1);
    expect(found(-3, { toleranceSeconds: 1 })[0]?.[2]).toBe('It was signed 3 s after the time of this clock.');
    expect(found(400, { toleranceSeconds: 400 })).toEqual([]);
  });

  it('a missing time explains nothing', () => {
    expect(timeFindings(undefined, { now: NOW, toleranceSeconds: undefined, shown: true })).toEqual([]);
  });

  it('a time after the clock shows that the clock is behind', () => {
    expect(found(-412)).toEqual([['clock_behind', 'certain', 'It was signed 412 s after the time of this clock.']]);
  });

  it('a time before the clock suggests a clock ahead, and then an old delivery', () => {
    const evidence = 'It was signed 412 s before the time of this clock.';
    expect(found(412)).toEqual([
      ['clock_ahead', 'likely', evidence],
      ['old_delivery', 'possible', evidence],
    ]);
    expect(found(DAY - 1)[0]?.[0]).toBe('clock_ahead');
  });

  it('a time a day before the clock suggests an old delivery first', () => {
    expect(found(DAY).map(([cause, certainty]) => [cause, certainty])).toEqual([
      ['old_delivery', 'likely'],
      ['clock_ahead', 'possible'],
    ]);
    expect(found(30 * DAY)[0]?.[0]).toBe('old_delivery');
  });

  it('the time is only a possible cause where no signature is valid', () => {
    expect(found(-412, { shown: false }).map(([, certainty]) => certainty)).toEqual(['possible']);
    expect(found(412, { shown: false }).map(([, certainty]) => certainty)).toEqual(['possible', 'possible']);
  });

  it.each([
    [0, true],
    [DAY, true],
    [-DAY, true],
    [DAY + 1, false],
  ])('a clock in seconds, %i s from the time, is recognised: %s', (seconds, isSo) => {
    const [first] = timeFindings(T, { now: T + seconds, toleranceSeconds: undefined, shown: true });
    expect(first?.cause === 'clock_in_seconds').toBe(isSo);
    if (isSo) expect(first).toMatchObject({ certainty: 'certain', evidence: 'now() gave the time in seconds.' });
  });

  it.each([
    [3_600, '3600 s (1 h: a clock set in another time zone?)'],
    [3_595, '3595 s (1 h: a clock set in another time zone?)'],
    [7_205, '7205 s (2 h: a clock set in another time zone?)'],
    [14 * 3_600, '50400 s (14 h: a clock set in another time zone?)'],
    [3_594, '3594 s'],
    [3_606, '3606 s'],
    [15 * 3_600, '54000 s'],
    [1_700, '1700 s'],
  ])('%i s of difference are described as %s', (seconds, words) => {
    expect(found(-seconds)[0]?.[2]).toBe(`It was signed ${words} after the time of this clock.`);
    expect(found(seconds)[0]?.[2]).toBe(`It was signed ${words} before the time of this clock.`);
  });

  it('the difference counts in whole seconds', () => {
    const at = (now: number) => timeFindings(T, { now, toleranceSeconds: undefined, shown: true }).length;
    expect([at(NOW + 300_999), at(NOW + 301_000), at(NOW - 300_000), at(NOW - 300_001)]).toEqual([0, 2, 0, 1]);
  });
});
