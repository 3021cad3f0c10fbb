import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createClock } from '../../src/time/clock.js';
import { createRequestPool } from '../../src/time/request-pool.js';
import { createAnswerTime } from '../../src/wire/answer-time.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
  vi.advanceTimersByTime(5_000);
});
/** The time for an answer, on a clock that does not wait for running requests. */
function create(speed: number | undefined, hangAfterMs = 200) {
  let resting = 0;
  const pool = {
    ...createRequestPool(1),
    rest() {
      resting += 1;
    },
    resume() {
      resting -= 1;
    },
  };
  const clock = createClock({ speed, startAt: 0, settled: async () => {} });
  const time = createAnswerTime({ clock, pool, hangAfterMs });
  let passed = 0;
  time.onPassed(() => {
    passed += 1;
  });
  return { clock, time, passed: () => passed, isResting: () => resting === 1 };
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** The value of a promise once it has resolved. */
function watch<T>(promise: Promise<T>): { value?: T } {
  const seen: { value?: T } = {};
  promise.then((value) => {
    seen.value = value;
  });
  return seen;
}

describe('createAnswerTime with a virtual clock', () => {
  it('the time of a receiver has passed after hangAfterMs in real time', async () => {
    const { passed, clock } = create(undefined);
    await pass(199);
    expect(passed()).toBe(0);
    await pass(1);
    expect([passed(), clock.now()]).toEqual([1, 0]);
    await pass(60_000);
    expect(passed()).toBe(1);
  });

  it('time on the clock does not count toward hangAfterMs', async () => {
    const { time, clock, passed } = create(undefined);
    await pass(150);
    const held = watch(time.hold(15_000));
    await pass(1_000);
    expect([held.value, passed()]).toEqual([undefined, 0]);
    await clock.advance(15_000);
    expect(held.value).toBe(true);
    await pass(49);
    expect(passed()).toBe(0);
    await pass(1);
    expect(passed()).toBe(1);
  });

  it('a hold ends with its time on the clock, and 20 s in total are too much', async () => {
    const { time, clock } = create(undefined);
    const first = watch(time.hold(12_000));
    await clock.advance(11_999);
    expect(first).toEqual({});
    await clock.advance(1);
    expect(first.value).toBe(true);
    const second = watch(time.hold(8_000));
    await clock.advance(8_000);
    expect(second.value).toBe(true);
    expect(await time.hold(1)).toBe(false);
    expect(clock.now()).toBe(20_000);
  });

  it('a hold that is too long ends with the 20 s', async () => {
    const { time, clock } = create(undefined);
    const held = watch(time.hold(60_000));
    await clock.advance(19_999);
    expect(held).toEqual({});
    await clock.advance(1);
    expect(held.value).toBe(false);
  });

  it('a hold of 0 ms does not wait for the clock', async () => {
    const { time, passed } = create(undefined);
    expect(await time.hold(0)).toBe(true);
    await pass(200);
    expect(passed()).toBe(1);
  });

  it('a held attempt does not count as running until it continues', async () => {
    const { time, clock, isResting } = create(undefined);
    expect(isResting()).toBe(false);
    const held = watch(time.hold(1_000));
    expect(isResting()).toBe(true);
    await clock.advance(1_000);
    expect([held.value, isResting()]).toEqual([true, false]);
  });

  it('an interrupt ends a hold and its timers', async () => {
    const { time, clock, passed } = create(undefined);
    const held = watch(time.hold(1_000));
    time.interrupt();
    await pass(0);
    expect(held.value).toBe(false);
    time.interrupt();
    await clock.runUntilIdle();
    expect(clock.now()).toBe(0);
    await pass(60_000);
    expect(passed()).toBe(0);
  });
});

describe('createAnswerTime with a real clock', () => {
  it('a receiver has its 20 s at any speed', async () => {
    const { passed } = create(10);
    await pass(19_999);
    expect(passed()).toBe(0);
    await pass(1);
    expect(passed()).toBe(1);
  });

  it('holds and the time of the receiver count together', async () => {
    const { time, passed } = create(1);
    await pass(5_000);
    const held = watch(time.hold(6_000));
    await pass(6_000);
    expect(held.value).toBe(true);
    await pass(8_999);
    expect(passed()).toBe(0);
    await pass(1);
    expect(passed()).toBe(1);
  });

  it('the time after an interrupt does not count', async () => {
    const { time } = create(1);
    await pass(5_000);
    time.hold(1_000);
    time.interrupt();
    await pass(6_000);
    const held = watch(time.hold(14_000));
    await pass(14_000);
    expect(held.value).toBe(true);
  });

  it('a hold is not longer than the time that is left', async () => {
    const { time } = create(1);
    await pass(15_000);
    const held = watch(time.hold(5_001));
    await pass(4_999);
    expect(held).toEqual({});
    await pass(1);
    expect(held.value).toBe(false);
    expect(await time.hold(1)).toBe(false);
  });

  it('a hold of exactly the time that is left is in time', async () => {
    const { time } = create(1);
    await pass(15_000);
    const held = watch(time.hold(5_000));
    await pass(5_000);
    expect(held.value).toBe(true);
  });
});

describe('answerTime.end', () => {
  it('an ended attempt has no timer and cannot hold', async () => {
    const { time, clock, passed } = create(undefined);
    time.end();
    await pass(1_000);
    expect([passed(), await time.hold(1_000), await time.hold(0)]).toEqual([0, false, false]);
    await clock.runUntilIdle();
    expect(clock.now()).toBe(0);
  });

  it('the end of an attempt ends its hold', async () => {
    const { time, clock, passed } = create(undefined);
    const held = watch(time.hold(1_000));
    time.end();
    await clock.runUntilIdle();
    await pass(1_000);
    expect([held.value, clock.now(), passed(), vi.getTimerCount()]).toEqual([false, 0, 0, 0]);
  });
});
