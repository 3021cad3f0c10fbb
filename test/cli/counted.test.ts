import { describe, expect, it } from 'vitest';
import { counted } from '../../src/cli/counted.js';

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
