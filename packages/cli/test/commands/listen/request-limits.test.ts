import { describe, expect, it } from 'vitest';
import { createRateCap } from '../../../src/commands/listen/request-limits.js';

function aCap() {
  const clock = { now: 5_000 };
  const { take } = createRateCap({ count: 2, bytes: 10, windowMs: 1_000, now: () => clock.now });
  return { clock, take };
}

describe('the rate cap of listen', () => {
  it('the number of requests in a window is limited', () => {
    const { take } = aCap();
    expect([take(1), take(1), take(1)]).toEqual([true, true, false]);
  });

  it('the bytes in a window are limited, and a refused request does not count', () => {
    const { take } = aCap();
    expect([take(8), take(3), take(2)]).toEqual([true, false, true]);
  });

  it('a new window begins when the last one is over, or when the clock was set back', () => {
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
