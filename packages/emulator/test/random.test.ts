import { describe, expect, it } from 'vitest';
import { createRandom } from '../src/random.js';

describe('createRandom of the emulator', () => {
  it('the same seed, purpose and number give the same values on every machine', () => {
    const random = createRandom('seed');
    expect(random.seed).toBe('seed');
    expect(random.number('a', 1)).toBe(0.09502599405971068);
    expect(random.id('evt', 1)).toBe('evt_c805dac7a9d8bb49862a4a3c');
    expect(random.uuid('key', 1)).toBe('95e7269c-421f-47d9-8129-61c24d9f17fc');
  });

  it('another seed, purpose or number gives other values', () => {
    const [one, two] = [createRandom('one'), createRandom('two')];
    expect(new Set([one.number('a', 1), one.number('a', 2), one.number('b', 1), two.number('a', 1)]).size).toBe(4);
    expect(new Set([one.id('a', 1), one.id('a', 2), two.id('a', 1), one.id('b', 1).replace('b', 'a')]).size).toBe(4);
    expect(new Set([one.uuid('a', 1), one.uuid('a', 2), two.uuid('a', 1), one.uuid('b', 1)]).size).toBe(4);
    expect(new Set([one.secret('a', 1), one.secret('a', 2), two.secret('a', 1)]).size).toBe(3);
  });

  it('numbers are spread from 0 up to 1', () => {
    const random = createRandom('spread');
    const numbers = Array.from({ length: 1_000 }, (_, n) => random.number(n));
    expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true);
    for (let tenth = 0; tenth < 10; tenth += 1) {
      const found = numbers.filter((number) => Math.floor(number * 10) === tenth).length;
      expect(found).toBeGreaterThan(50);
    }
  });

  it('ids, version 4 UUIDs and secrets have their documented form', () => {
    const random = createRandom('form');
    expect(random.id('wh', 7)).toMatch(/^wh_[0-9a-f]{24}$/);
    expect(random.uuid('key', 7)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(random.secret('whsec', 7)).toMatch(/^whsec_[A-Za-z0-9_-]{43}$/);
  });
});
