import { describe, expect, it, vi } from 'vitest';
import { createClock } from '../../src/time/clock.js';

describe("the emulator's createClock", () => {
  it('runUntilIdle waits until everything is settled before each due call', async () => {
    const steps: string[] = [];
    const settled = async () => void steps.push('settled');
    const clock = createClock({ speed: undefined, startAt: 0, settled });
    clock.after(10, () => steps.push('a'));
    clock.after(20, () => steps.push('b'));
    await clock.runUntilIdle();
    expect(steps).toEqual(['settled', 'a', 'settled', 'b', 'settled']);
  });

  it('msUntil gives the time left until an instant of instantAfter on a real clock', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
    const clock = createClock({ speed: 10, startAt: 0, settled: async () => {} });
    const instant = clock.instantAfter(2_000);
    expect(clock.msUntil(instant())).toBe(2_000);
    await clock.advance(500);
    expect(clock.msUntil(instant())).toBe(1_500);
    vi.advanceTimersByTime(50);
    expect(clock.msUntil(instant())).toBe(1_000);
  });
});

describe('clock.set of the emulator', () => {
  it('a real clock ignores the new time, and its pending calls run when they were due', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'], now: 1_000 });
    const clock = createClock({ speed: 1, startAt: 0, settled: async () => {} });
    const run = vi.fn();
    clock.after(1_000, run);
    clock.set(9_000);
    clock.after(10, () => {});
    expect(clock.now()).toBe(1_000);
    vi.advanceTimersByTime(999);
    expect(run).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(run).toHaveBeenCalledTimes(1);
  });
});

describe("the timer of the emulator's real clock", () => {
  /** The waits of the timers that a clock sets for these calls, until all of them have run. */
  function waitsFor(...calls: number[]) {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
    const timers = vi.spyOn(globalThis, 'setTimeout');
    const clock = createClock({ speed: 1, startAt: 0, settled: async () => {} });
    for (const ms of calls) clock.after(ms, () => {});
    vi.advanceTimersByTime(1_000);
    return timers.mock.calls.map(([, ms]) => ms);
  }

  it('one timer at a time is set, for the call that is due first', () => {
    expect(waitsFor(1_000, 400)).toEqual([1_000, 400, 600]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('a timer is never longer than setTimeout allows, and never negative', () => {
    expect(waitsFor(2 ** 40, -5).slice(0, 2)).toEqual([2_147_483_647, 0]);
  });
});
