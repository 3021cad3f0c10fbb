import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type ClockOptions, createClock } from '../../../src/emulator/time/clock.js';

const START = Date.UTC(2026, 6, 11, 9);
/** What the machine's own counter is at when a clock is made. */
const BEFORE = 5_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'], now: START - BEFORE });
  vi.advanceTimersByTime(BEFORE);
});
function create(options: Partial<ClockOptions> = {}) {
  return createClock({ speed: undefined, startAt: START, settled: async () => {}, ...options });
}

describe('a virtual clock', () => {
  it('moves when it is told to, and has what falls due happen at its time', async () => {
    const clock = create();
    const seen: (string | number)[] = [];
    clock.after(30, () => seen.push('b', clock.now() - START));
    clock.after(10, () => seen.push('a', clock.now() - START));
    await clock.advance(29);
    expect([seen, clock.now() - START]).toEqual([['a', 10], 29]);
    await clock.advance(1);
    expect(seen).toEqual(['a', 10, 'b', 30]);
  });

  it('needs no timer of the machine', async () => {
    const clock = create();
    clock.after(10, () => {});
    expect([clock.running, vi.getTimerCount()]).toEqual([false, 0]);
    await clock.advance(20);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('waits with each step until nothing is going on', async () => {
    const steps: string[] = [];
    const clock = create({ settled: async () => void steps.push('settled') });
    clock.after(10, () => steps.push('a'));
    clock.after(20, () => steps.push('b'));
    await clock.runUntilIdle();
    expect(steps).toEqual(['settled', 'a', 'settled', 'b', 'settled']);
  });

  it('goes on until nothing waits, what is added on the way included', async () => {
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

  it('makes one journey after the other', async () => {
    const clock = create();
    const seen: number[] = [];
    clock.after(15, () => seen.push(clock.now() - START));
    await Promise.all([clock.advance(10), clock.advance(10), clock.advance(10)]);
    expect([seen, clock.now() - START]).toEqual([[15], 30]);
  });

  it('says when something will be due, and how long that is', async () => {
    const clock = create();
    await clock.advance(100);
    const instant = clock.instantAfter(50);
    expect([instant() - START, clock.msUntil(instant())]).toEqual([150, 50]);
    await clock.advance(20);
    expect([instant() - START, clock.msUntil(instant())]).toEqual([150, 30]);
  });

  it('can be set, and forgets nothing by it', async () => {
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

  it('has nothing fall due any more once it is stopped, and one cancelled never', async () => {
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

describe('a real clock', () => {
  it('has what waits fall due by itself, as many times faster as it is told', () => {
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

  it('sleeps until the first of them, and not once nothing waits', () => {
    const sleeps = vi.spyOn(globalThis, 'setTimeout');
    const clock = create({ speed: 1 });
    clock.after(1_000, () => {});
    clock.after(400, () => {});
    vi.advanceTimersByTime(1_000);
    expect(sleeps.mock.calls.map(([, ms]) => ms)).toEqual([1_000, 400, 600]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('sleeps no longer than a timer of the machine can, nor less than no time', () => {
    const sleeps = vi.spyOn(globalThis, 'setTimeout');
    const clock = create({ speed: 1 });
    clock.after(2 ** 40, () => {});
    clock.after(-5, () => {});
    expect(sleeps.mock.calls.map(([, ms]) => ms)).toEqual([2_147_483_647, 0]);
  });

  it('has the waits get shorter when time is made to pass, and now stays what it is', async () => {
    const clock = create({ speed: 1 });
    const seen: string[] = [];
    clock.after(1_000, () => seen.push('a'));
    clock.after(2_000, () => seen.push('b'));
    await clock.advance(1_500);
    expect([seen, clock.now()]).toEqual([['a'], START]);
    vi.advanceTimersByTime(500);
    expect(seen).toEqual(['a', 'b']);
  });

  it('says when something will be due: earlier once time was made to pass', async () => {
    const clock = create({ speed: 10 });
    const instant = clock.instantAfter(2_000);
    expect([instant() - START, clock.msUntil(instant())]).toEqual([200, 2_000]);
    await clock.advance(500);
    expect([instant() - START, clock.msUntil(instant())]).toEqual([150, 1_500]);
    vi.advanceTimersByTime(50);
    expect([instant() - START, clock.msUntil(instant())]).toEqual([150, 1_000]);
  });

  it('says the same instant again, though the date of the machine is put right meanwhile', () => {
    const clock = create({ speed: 1 });
    const instant = clock.instantAfter(2_000);
    vi.setSystemTime(START + 7);
    expect(instant() - START).toBe(2_000);
  });

  it('cannot be set', () => {
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

  it('leaves no timer of the machine when it is stopped', () => {
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
