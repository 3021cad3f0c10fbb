import { describe, expect, it } from 'vitest';
import { createRateCap } from '../../../src/commands/listen/request-limits.js';

function aCap() {
  const clock = { now: 5_000 };
  const { take } = createRateCap({ count: 2, bytes: 10, windowMs: 1_000, now: () => clock.now });
  return { clock, take };
}

describe('a rate cap', () => {
  it('it limits the number in a window', () => {
    const { take } = aCap();
    expect([take(1), take(1), take(1)]).toEqual([true, true, false]);
  });

  it('it limits the bytes in a window, and one that is too large leaves room for a smaller one', () => {
    const { take } = aCap();
    expect([take(8), take(3), take(2)]).toEqual([true, false, true]);
  });

  it('a new window begins when the last one has passed, also where the clock was set back', () => {
    const { take, clock } = aCap();
    expect([take(10), take(1)]).toEqual([true, false]);
    clock.now += 999;
    expect(take(1)).toBe(false);
    clock.now += 1;
    expect(take(1)).toBe(true);
    clock.now -= 2_000;
    expect(take(10)).toBe(true);
  });
});
