import { InvalidArgumentError } from '@commander-js/extra-typings';
import { describe, expect, it } from 'vitest';
import { duration, instant, listOption, repeatable, timeoutOption, wholeNumber } from '../src/options.js';

const refusing = (message: string) => new InvalidArgumentError(message);

describe('the value of an option', () => {
  it.each([
    ['500ms', 500],
    ['2s', 2_000],
    ['1.5s', 1_500],
    ['10m', 600_000],
    ['0.25m', 15_000],
    ['0s', 0],
    ['1440m', 86_400_000],
    ['2h', 7_200_000],
    ['1.5h', 5_400_000],
    ['1d', 86_400_000],
  ])('%s is read as a duration', (text, ms) => {
    expect(duration(text)).toBe(ms);
  });

  it.each(['', '5', 's', '-1s', '1w', '1.s', '.5s', ' 1s', '1s ', '1S', '1ss', '1441m', '25h', '2d'])(
    '%j is refused as a duration',
    (text) => {
      expect(() => duration(text)).toThrow(
        refusing('It takes a time with its unit, of 1d at most: 500ms, 2s, 1m, 2h.'),
      );
    },
  );

  it.each([
    ['2', 2],
    ['05', 5],
    ['11', 11],
  ])('%s is read as a whole number within its bounds', (text, value) => {
    expect(wholeNumber(2, 11)(text)).toBe(value);
  });

  it.each(['1', '12', '', ' 3', '3 ', '+3', '-3', '3.0', '3e0', '0x3', 'three'])(
    '%j is refused as a whole number from 2 to 11',
    (text) => {
      expect(() => wholeNumber(2, 11)(text)).toThrow(refusing('It takes a whole number from 2 to 11.'));
    },
  );

  it.each([
    ['0', 0],
    ['1783771200', 1_783_771_200_000],
    ['999999999999', 999_999_999_999_000],
    ['2026-07-11T12:00:00Z', Date.UTC(2026, 6, 11, 12)],
    ['2026-07-11T12:00:00+02:00', Date.UTC(2026, 6, 11, 10)],
  ])('%s is read as an instant', (text, ms) => {
    expect(instant(text)).toBe(ms);
  });

  it.each(['', 'soon', '1000000000000000', '2026-13-11T12:00:00Z'])('%j is refused as an instant', (text) => {
    expect(() => instant(text)).toThrow(refusing('It takes a time: 2026-07-11T12:00:00Z, or Unix seconds.'));
  });

  it('an option with known words takes them by commas or one by one', () => {
    const option = listOption('--only <names>', 'which', ['one', 'two', 'three']);
    const parse = option.parseArg as (text: string, others?: string[]) => string[];
    expect(option.argChoices).toEqual(['one', 'two', 'three']);
    expect(parse('two, one')).toEqual(['two', 'one']);
    expect(parse('three', parse('two'))).toEqual(['two', 'three']);
    expect(() => parse('one,four')).toThrow(refusing('There are: one, two, three.'));
    expect(() => parse('')).toThrow(refusing('There are: one, two, three.'));
  });

  it('a repeatable option collects its values', () => {
    expect(repeatable('b', repeatable('a'))).toEqual(['a', 'b']);
  });
});

it('--timeout defaults to 20 s, as the service waits', () => {
  const option = timeoutOption();
  expect(option).toMatchObject({ long: '--timeout', defaultValue: 20_000, defaultValueDescription: '20s' });
  expect(option.description).toContain('how long to wait');
  expect((option.parseArg as (text: string) => number)('2s')).toBe(2_000);
});
