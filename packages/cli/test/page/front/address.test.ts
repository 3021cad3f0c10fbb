import { describe, expect, it } from 'vitest';
import { fromHash, type Place, toHash } from '../../../src/page/front/address.js';
import { NO_FILTER } from '../../../src/page/front/state.js';

const NOTHING: Place = { ...NO_FILTER, selected: undefined, attempt: undefined, compared: undefined };

describe('the URL hash of the page', () => {
  it.each<[string, Partial<Place>]>([
    ['', {}],
    ['#delivery=dlv_1', { selected: 'dlv_1' }],
    ['#delivery=dlv_1&attempt=-3', { selected: 'dlv_1', attempt: '-3' }],
    ['#delivery=dlv_1&attempt=7&with=-3', { selected: 'dlv_1', attempt: '7', compared: '-3' }],
    ['#state=has-failed', { only: 'has-failed' }],
    ['#q=a%26b%23+c&state=dead&type=stt.failed&since=60', { query: 'a&b# c', only: 'dead', type: 'stt.failed', since: 3_600_000 }], // biome-ignore format: one row
    ['#delivery=evt_%3Cscript%3E%E2%80%AE', { selected: 'evt_<script>\u202e' }],
  ])('the hash %j is written for what is selected and filtered, and is read back the same', (hash, changes) => {
    const place = { ...NOTHING, ...changes };
    expect(toHash(place)).toBe(hash);
    expect(fromHash(hash)).toEqual(place);
  });

  it('an attempt without its delivery is left out of the hash', () => {
    expect(toHash({ ...NOTHING, attempt: '7', compared: '8' })).toBe('');
    expect(toHash({ ...NOTHING, selected: 'dlv_1', compared: '8' })).toBe('#delivery=dlv_1');
  });

  it.each(['#state=gone', '#since=x', '#since=-5', '#since=0.5', '#delivery=', '#%E0%A4%A', '#__proto__=1'])(
    'the invalid hash %s shows the whole list',
    (hash) => {
      expect(fromHash(hash)).toEqual(NOTHING);
    },
  );
});
