import { describe, expect, it } from 'vitest';
import { isShortOf, shortIds } from '../../src/queues/short-ids.js';

const shortened = (...ids: string[]) => ids.map(shortIds(ids));

describe('the ids that queue list shortens', () => {
  it.each([
    ['numbers, which count up', ['17', '1234567890'], ['17', '1234567890']],
    [
      'UUIDs',
      ['3f0c9a1e-5a1b-4c3d-8e2f-000000000001', '77aa9a1e-5a1b-4c3d-8e2f-000000000002'],
      ['3f0c9a1e', '77aa9a1e'],
    ],
    ['keys, whose endpoint is the same', ['clips%3Aevt_a', 'clips%3Aevt_0123456789'], ['evt_a', 'evt_0123']],
    ['ids with a common beginning', ['evt_01J8Z4Q7A', 'evt_01J8Z4Q7B'], ['evt_01J8Z4Q7A', 'evt_01J8Z4Q7B']],
    ['one id', ['evt_01J8Z4Q7A'], ['evt_01J8']],
    ['nothing', [''], ['']],
    [
      'ids with the same end',
      ['epA%3A0123456789abcdef', 'epB%3A0123456789abcdef', 'epB%3Afedcba9876543210'],
      ['epA%3A0123456789abcdef', 'epB%3A0123456789abcdef', 'fedcba98'],
    ],
    [
      'ids of which one begins another',
      ['ep%3Aevt_0123', 'ep%3Aevt_012345', 'ep%3Aevt_0123456'],
      ['ep%3Aevt_0123', 'ep%3Aevt_012345', 'evt_0123456'],
    ],
  ])('%s are as short as tells them apart', (_, ids, short) => {
    expect(shortened(...ids)).toEqual(short);
  });

  it('a shortened id names its letter, and the beginning of a number names none', () => {
    expect(isShortOf('evt_0123', 'clips%3Aevt_0123456789')).toBe(true);
    expect(isShortOf('evt_a', 'clips%3Aevt_a')).toBe(true);
    expect(isShortOf('evt_012', 'clips%3Aevt_0123456789')).toBe(false);
    expect(isShortOf('12345678', '1234567890')).toBe(false);
    expect(isShortOf('', 'clips%3Aevt_0123456789')).toBe(false);
  });
});
