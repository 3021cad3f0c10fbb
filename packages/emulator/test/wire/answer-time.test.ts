import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createClock } from '../../src/time/clock.js';
import { createRequestPool } from '../../src/time/request-pool.js';
import { createAnswerTime } from '../../src/wire/answer-time.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'], now: 5_000 });
});

/** The time for an answer, on a clock that does not wait for running requests. */
function create(speed?: number) {
  const [rest, resume, passed] = [vi.fn(), vi.fn(), vi.fn()];
  const clock = createClock({ speed, startAt: 0, settled: async () => {} });
  const time = createAnswerTime({ clock, pool: { ...createRequestPool(1), rest, resume }, hangAfterMs: 200 });
  time.onPassed(passed);
  /** Holds, and returns a function that is called with the result. */
  const hold = (ms: number) => {
    const held = vi.fn();
    time.hold(ms).then(held);
    return held;
  };
  return { clock, time, hold, passed, rest, resume };
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** Lets exactly that much real time pass, at whose end the time of the receiver is over. */
async function expectPassedAfter(ms: number, passed: () => void) {
  await pass(ms - 1);
  expect(passed).not.toHaveBeenCalled();
  await pass(1);
  expect(passed).toHaveBeenCalledTimes(1);
}

describe("the time for an answer on the emulator's virtual clock", () => {
  it('an attempt without an answer times out once, after hangAfterMs in real time', async () => {
    const { passed, clock } = create();
    await expectPassedAfter(200, passed);
    await pass(60_000);
    expect(passed).toHaveBeenCalledTimes(1);
    expect(clock.now()).toBe(0);
  });

  it('the virtual time of a hold does not count toward hangAfterMs', async () => {
    const { hold, clock, passed } = create();
    await pass(150);
    const held = hold(15_000);
    await pass(1_000);
    expect([held, passed].flatMap(({ mock }) => mock.calls)).toEqual([]);
    await clock.advance(15_000);
    expect(held).toHaveBeenCalledWith(true);
    await expectPassedAfter(50, passed);
  });

  it('a hold ends after its virtual time, and holds of more than 20 s in total time out', async () => {
    const { hold, clock } = create();
    const first = hold(12_000);
    await clock.advance(11_999);
    expect(first).not.toHaveBeenCalled();
    await clock.advance(1);
    expect(first).toHaveBeenCalledWith(true);
    const second = hold(8_000);
    await clock.advance(8_000);
    expect(second).toHaveBeenCalledWith(true);
    const third = hold(1);
    await pass(0);
    expect(third).toHaveBeenCalledWith(false);
    expect(clock.now()).toBe(20_000);
  });

  it('a hold of more than 20 s ends after 20 s as out of time', async () => {
    const { hold, clock } = create();
    const held = hold(60_000);
    await clock.advance(19_999);
    expect(held).not.toHaveBeenCalled();
    await clock.advance(1);
    expect(held).toHaveBeenCalledWith(false);
  });

  it('a hold of 0 ms does not wait for the clock', async () => {
    const { time, passed } = create();
    expect(await time.hold(0)).toBe(true);
    await expectPassedAfter(200, passed);
  });

  it('a held attempt does not count as running until it continues', async () => {
    const { hold, clock, rest, resume } = create();
    const held = hold(1_000);
    expect([rest, resume].map(({ mock }) => mock.calls.length)).toEqual([1, 0]);
    await clock.advance(1_000);
    expect([rest, resume, held].map(({ mock }) => mock.calls.length)).toEqual([1, 1, 1]);
  });

  it.each(['interrupt', 'end'] as const)('%s() ends a hold and leaves no timer', async (end) => {
    const { time, hold, clock, passed } = create();
    const held = hold(1_000);
    time[end]();
    time[end]();
    await clock.runUntilIdle();
    await pass(60_000);
    expect(held).toHaveBeenCalledWith(false);
    expect(passed).not.toHaveBeenCalled();
    expect([clock.now(), vi.getTimerCount()]).toEqual([0, 0]);
  });

  it('an ended attempt has no timer, and a hold of it fails at once', async () => {
    const { time, clock, passed } = create();
    time.end();
    await pass(1_000);
    expect([await time.hold(1_000), await time.hold(0), vi.getTimerCount()]).toEqual([false, false, 0]);
    await clock.runUntilIdle();
    expect(clock.now()).toBe(0);
    expect(passed).not.toHaveBeenCalled();
  });
});

describe("the time for an answer on the emulator's real clock", () => {
  it('an attempt without an answer times out after 20 s of real time at any speed', async () => {
    await expectPassedAfter(20_000, create(10).passed);
  });

  it('the time of holds and of the receiver count together toward the 20 s', async () => {
    const { hold, passed } = create(1);
    await pass(5_000);
    const held = hold(6_000);
    await pass(6_000);
    expect(held).toHaveBeenCalledWith(true);
    await expectPassedAfter(9_000, passed);
  });

  it('the time after interrupt() does not count toward the 20 s', async () => {
    const { time, hold } = create(1);
    await pass(5_000);
    hold(1_000);
    time.interrupt();
    await pass(6_000);
    const held = hold(14_000);
    await pass(14_000);
    expect(held).toHaveBeenCalledWith(true);
  });

  it.each([
    [5_000, true],
    [5_001, false],
  ])('a hold of %i ms that begins after 15 s ends after 5 s and is in time: %s', async (ms, inTime) => {
    const { time, hold } = create(1);
    await pass(15_000);
    const held = hold(ms);
    await pass(4_999);
    expect(held).not.toHaveBeenCalled();
    await pass(1);
    expect(held).toHaveBeenCalledWith(inTime);
    expect(await time.hold(1)).toBe(false);
  });
});
