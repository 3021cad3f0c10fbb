import type { EmulatorOptions } from 'service-webhooks-emulator';
import { describe, expect, it, vi } from 'vitest';
import { HOOK, START, startEmulator, startWithEndpoint } from './emulators.js';

/** The last day of the last year with four digits. */
const LAST = Date.UTC(9999, 11, 31);

/** An emulator after the first attempt of a delivery that fails. */
async function startWaiting(options: EmulatorOptions = {}) {
  const { emulator, receiver, id } = startWithEndpoint(options);
  await emulator.emit('stt.completed');
  await emulator.settled();
  const numbers = () => emulator.attempts.list().map(({ number }) => number);
  const nextAt = () => (emulator.deliveries.list()[0]?.nextAt ?? 0) - START;
  return { emulator, receiver, id, numbers, nextAt };
}

describe("the emulator's virtual clock", () => {
  it('the time stands still without advance(), and no system timer is set', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'], now: START + 5_000 });
    const { emulator, numbers } = await startWaiting();
    await vi.advanceTimersByTimeAsync(60_000);
    expect([emulator.now(), numbers(), vi.getTimerCount()]).toEqual([START, [1], 0]);
  });

  it('advance(ms) moves the time by exactly ms', async () => {
    const { emulator, numbers } = await startWaiting();
    await emulator.advance(29_999);
    expect([emulator.now() - START, numbers()]).toEqual([29_999, [1]]);
    await emulator.advance(1);
    expect([emulator.now() - START, numbers()]).toEqual([30_000, [1, 2]]);
  });

  it('attempts start in order of their due times, each after the previous one was answered', async () => {
    const { emulator } = startWithEndpoint();
    await emulator.emit('stt.completed', { id: 'evt_a' });
    await emulator.advance(10_000);
    await emulator.emit('stt.completed', { id: 'evt_b' });
    await emulator.advance(200_000);
    const seen = emulator.attempts.list().map(({ eventId, number, at }) => [eventId, number, at - START]);
    expect(seen).toEqual([
      ['evt_a', 1, 0],
      ['evt_b', 1, 10_000],
      ['evt_a', 2, 30_000],
      ['evt_b', 2, 40_000],
      ['evt_a', 3, 150_000],
      ['evt_b', 3, 160_000],
    ]);
  });

  it('simultaneous calls of advance run one after the other', async () => {
    const { emulator } = await startWaiting();
    await Promise.all([emulator.advance(20_000), emulator.advance(20_000), emulator.advance(500)]);
    expect(emulator.now() - START).toBe(40_500);
    expect(emulator.attempts.list()).toMatchObject([{ at: START }, { at: START + 30_000 }]);
  });

  it('runUntilIdle moves the time until no attempt is waiting, and no further', async () => {
    const { emulator } = await startWaiting();
    for (let i = 0; i < 2; i += 1) await emulator.emit('stt.completed');
    await emulator.runUntilIdle();
    await emulator.runUntilIdle();
    expect(emulator.totals).toMatchObject({ attempts: 18, dead: 3 });
    expect(emulator.now() - START).toBe(18_750_000);
  });

  it('an attempt without an answer times out after 20 s of virtual time', async () => {
    const { emulator } = startWithEndpoint({ fetch: () => new Promise<never>(() => {}), hangAfterMs: 5 });
    await emulator.emit('stt.completed');
    await emulator.advance(25_000);
    expect(emulator.attempts.list()).toMatchObject([
      { reason: 'timeout', answer: undefined, at: START, endedAt: START + 20_000, nextAt: START + 50_000 },
    ]);
  });

  it.each([
    [-1, 'ms must be 0 or more'],
    [Number.NaN, 'ms must be 0 or more'],
    [Number.POSITIVE_INFINITY, 'ms must be 0 or more'],
    ['1', 'ms must be 0 or more'],
    [LAST - START + 1, 'ms goes beyond the year 9999'],
    [1e300, 'ms goes beyond the year 9999'],
  ])('advance(%j) is refused', async (ms, message) => {
    const { emulator } = startEmulator();
    await expect(emulator.advance(ms as number)).rejects.toThrow(message);
    expect(emulator.now()).toBe(START);
  });

  it('advance accepts 0 ms, and the rest of the year 9999', async () => {
    const { emulator } = startEmulator();
    await emulator.advance(0);
    expect(emulator.now()).toBe(START);
    await emulator.advance(LAST - START);
    expect(emulator.now()).toBe(LAST);
  });
});

describe("the emulator's real clock", () => {
  /** An emulator on a real clock, while the time of the machine stands still. */
  async function startReal(options: EmulatorOptions = {}) {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'], now: START });
    return startWaiting({ clock: 'real', ...options });
  }

  it('retries start without advance(), `speed` times sooner', async () => {
    const { emulator, numbers } = await startReal({ speed: 100 });
    await vi.advanceTimersByTimeAsync(299);
    expect(numbers()).toEqual([1]);
    await vi.advanceTimersByTimeAsync(1);
    await emulator.settled();
    expect([numbers(), emulator.now() - START]).toEqual([[1, 2], 300]);
  });

  it('advance(ms) brings retries forward by ms, and now() does not jump', async () => {
    const { emulator, numbers, nextAt } = await startReal();
    expect(nextAt()).toBe(30_000);
    await emulator.advance(20_000);
    expect([nextAt(), emulator.now() - START, numbers()]).toEqual([10_000, 0, [1]]);
    await vi.advanceTimersByTimeAsync(10_000);
    await emulator.settled();
    expect(numbers()).toEqual([1, 2]);
    await emulator.runUntilIdle();
    expect(emulator.totals).toMatchObject({ attempts: 6, dead: 1 });
  });

  it('the nextAt of a retry follows speed and advance, and not a change of the system time', async () => {
    const { emulator, nextAt } = await startReal({ speed: 10 });
    expect(nextAt()).toBe(3_000);
    await emulator.advance(5_000);
    expect(nextAt()).toBe(2_500);
    vi.setSystemTime(START + 7);
    expect(nextAt()).toBe(2_500);
  });

  it('no timer is left by a finished attempt, nor by a closed emulator', async () => {
    const { emulator, receiver, id } = await startReal();
    expect(vi.getTimerCount()).toBe(1);
    emulator.endpoints.remove(id);
    emulator.endpoints.create({ url: HOOK });
    receiver.status = 200;
    await emulator.emit('stt.completed');
    await emulator.settled();
    expect(vi.getTimerCount()).toBe(1);
    await emulator.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});
