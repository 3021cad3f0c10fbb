import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type ClockOptions, createClock } from '../../src/time/clock.js';

const START = Date.UTC(2026, 6, 11, 9);
/** The value of performance.now when a clock is created. */
const BEFORE = 5_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'], now: START - BEFORE });
  vi.advanceTimersByTime(BEFORE);
});
function create(options: Partial<ClockOptions> = {}) {
  return createClock({ speed: undefined, startAt: START, settled: async () => {}, ...options });
}

describe('createClock without a speed', () => {
  it('the clock moves on advance, and each call runs at its time', async () => {
    const clock = create();
    const seen: (string | number)[] = [];
    clock.after(30, () => seen.push('b', clock.now() - START));
    clock.after(10, () => seen.push('a', clock.now() - START));
    await clock.advance(29);
    expect([seen, clock.now() - START]).toEqual([['a', 10], 29]);
    await clock.advance(1);
    expect(seen).toEqual(['a', 10, 'b', 30]);
  });

  it('a virtual clock uses no timer of the machine', async () => {
    const clock = create();
    clock.after(10, () => {});
    expect([clock.running, vi.getTimerCount()]).toEqual([false, 0]);
    await clock.advance(20);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('each step waits until everything is settled', async () => {
    const steps: string[] = [];
    const clock = create({ settled: async () => void steps.push('settled') });
    clock.after(10, () => steps.push('a'));
    clock.after(20, () => steps.push('b'));
    await clock.runUntilIdle();
    expect(steps).toEqual(['settled', 'a', 'settled', 'b', 'settled']);
  });

  it('runUntilIdle runs until nothing is scheduled, including what is added meanwhile', async () => {
    const clock = create();
    let n = 0;
    const again = () => {
      n += 1;
      if (n < 5) clock.after(1_000, again);
    };
    clock.after(1_000, again);
    await clock.runUntilIdle();
    expect([n, clock.now() - START]).toEqual([5, 5_000]);
    await clock.runUntilIdle();
    expect(clock.now() - START).toBe(5_000);
  });

  it('two journeys run one after the other', async () => {
    const clock = create();
    const seen: number[] = [];
    clock.after(15, () => seen.push(clock.now() - START));
    await Promise.all([clock.advance(10), clock.advance(10), clock.advance(10)]);
    expect([seen, clock.now() - START]).toEqual([[15], 30]);
  });

  it('instantAfter and msUntil agree', async () => {
    const clock = create();
    await clock.advance(100);
    const instant = clock.instantAfter(50);
    expect([instant() - START, clock.msUntil(instant())]).toEqual([150, 50]);
    await clock.advance(20);
    expect([instant() - START, clock.msUntil(instant())]).toEqual([150, 30]);
  });

  it('set moves the clock and keeps the schedule', async () => {
    const clock = create();
    clock.set(START + 1_000);
    expect(clock.now()).toBe(START + 1_000);
    let ran = false;
    clock.after(10, () => {
      ran = true;
    });
    await clock.advance(10);
    expect([ran, clock.now()]).toEqual([true, START + 1_010]);
  });

  it('a stopped clock runs nothing, and a cancelled call never runs', async () => {
    const clock = create();
    const seen: string[] = [];
    clock.after(5, () => seen.push('cancelled')).cancel();
    await clock.advance(5);
    clock.after(10, () => seen.push('stopped'));
    clock.stop();
    await clock.runUntilIdle();
    expect(seen).toEqual([]);
  });
});

describe('createClock with a speed', () => {
  it('calls run by themselves, `speed` times faster', () => {
    const clock = create({ speed: 10 });
    const seen: string[] = [];
    vi.advanceTimersByTime(700);
    clock.after(2_000, () => seen.push('b'));
    clock.after(1_000, () => seen.push('a'));
    vi.advanceTimersByTime(99);
    expect(seen).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(seen).toEqual(['a']);
    vi.advanceTimersByTime(100);
    expect([seen, clock.now() - START, clock.running]).toEqual([['a', 'b'], 900, true]);
  });

  it('the clock sets one timer, for the first call', () => {
    const sleeps = vi.spyOn(globalThis, 'setTimeout');
    const clock = create({ speed: 1 });
    clock.after(1_000, () => {});
    clock.after(400, () => {});
    vi.advanceTimersByTime(1_000);
    expect(sleeps.mock.calls.map(([, ms]) => ms)).toEqual([1_000, 400, 600]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('the timer is never longer than setTimeout allows, and never negative', () => {
    const sleeps = vi.spyOn(globalThis, 'setTimeout');
    const clock = create({ speed: 1 });
    clock.after(2 ** 40, () => {});
    clock.after(-5, () => {});
    expect(sleeps.mock.calls.map(([, ms]) => ms)).toEqual([2_147_483_647, 0]);
  });

  it('advance shortens the waits, and now does not jump', async () => {
    const clock = create({ speed: 1 });
    const seen: string[] = [];
    clock.after(1_000, () => seen.push('a'));
    clock.after(2_000, () => seen.push('b'));
    await clock.advance(1_500);
    expect([seen, clock.now()]).toEqual([['a'], START]);
    vi.advanceTimersByTime(500);
    expect(seen).toEqual(['a', 'b']);
  });

  it('advance brings an instant nearer', async () => {
    const clock = create({ speed: 10 });
    const instant = clock.instantAfter(2_000);
    expect([instant() - START, clock.msUntil(instant())]).toEqual([200, 2_000]);
    await clock.advance(500);
    expect([instant() - START, clock.msUntil(instant())]).toEqual([150, 1_500]);
    vi.advanceTimersByTime(50);
    expect([instant() - START, clock.msUntil(instant())]).toEqual([150, 1_000]);
  });

  it('an instant stays the same when the clock of the machine is corrected', () => {
    const clock = create({ speed: 1 });
    const instant = clock.instantAfter(2_000);
    vi.setSystemTime(START + 7);
    expect(instant() - START).toBe(2_000);
  });

  it('a real clock cannot be set', () => {
    const clock = create({ speed: 1 });
    let ran = false;
    clock.after(1_000, () => {
      ran = true;
    });
    clock.set(START + 5_000);
    expect(clock.now()).toBe(START);
    clock.after(10, () => {});
    vi.advanceTimersByTime(999);
    expect(ran).toBe(false);
    vi.advanceTimersByTime(1);
    expect(ran).toBe(true);
  });

  it('a stopped clock leaves no timer', () => {
    const clock = create({ speed: 1 });
    let ran = false;
    clock.after(10, () => {
      ran = true;
    });
    clock.stop();
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(20);
    expect(ran).toBe(false);
  });
});
