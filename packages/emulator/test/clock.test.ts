import { createEmulator, type Emulator, type EmulatorOptions } from 'service-webhooks-emulator';
import { afterEach, describe, expect, it, vi } from 'vitest';

const START = Date.UTC(2026, 6, 11, 9);

let emulator: Emulator;
afterEach(async () => {
  await emulator.close();
  vi.useRealTimers();
});

let answer = 500;
function create(options: EmulatorOptions = {}): Emulator {
  answer = 500;
  emulator = createEmulator({
    allowLoopback: true,
    startAt: START,
    fetch: () => new Response(null, { status: answer }),
    ...options,
  });
  emulator.endpoints.create({ url: 'http://localhost/' });
  return emulator;
}
const numbers = () => emulator.attempts.list().map(({ number }) => number);

describe('a virtual clock of an emulator', () => {
  it('a virtual clock does not move by itself', async () => {
    create();
    await emulator.emit('stt.completed');
    await emulator.settled();
    expect(emulator.now()).toBe(START);
    expect(numbers()).toEqual([1]);
  });

  it('advance moves the clock by exactly that much', async () => {
    create();
    await emulator.emit('stt.completed');
    await emulator.advance(29_999);
    expect(numbers()).toEqual([1]);
    await emulator.advance(1);
    await emulator.settled();
    expect(numbers()).toEqual([1, 2]);
    expect(emulator.now()).toBe(START + 30_000);
  });

  it('attempts start in the order in which they are due, each after the one before is answered', async () => {
    create();
    await emulator.emit('stt.completed', { id: 'evt_a' });
    await emulator.advance(10_000);
    await emulator.emit('stt.completed', { id: 'evt_b' });
    await emulator.advance(200_000);
    await emulator.settled();
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

  it('two calls of advance run one after the other', async () => {
    create();
    await Promise.all([emulator.advance(1_000), emulator.advance(500)]);
    expect(emulator.now()).toBe(START + 1_500);
  });

  it('runUntilIdle runs until nothing is due', async () => {
    create();
    for (let i = 0; i < 3; i += 1) await emulator.emit('stt.completed');
    await emulator.runUntilIdle();
    expect(emulator.totals).toMatchObject({ attempts: 18, dead: 3 });
    expect(emulator.now() - START).toBe(18_750_000);
  });

  it('a receiver that does not answer lets its 20 s pass', async () => {
    create({ fetch: () => new Promise<never>(() => {}), hangAfterMs: 5 });
    await emulator.emit('stt.completed');
    await emulator.advance(25_000);
    expect(emulator.attempts.list()).toMatchObject([
      { reason: 'timeout', answer: undefined, at: START, endedAt: START + 20_000, nextAt: START + 50_000 },
    ]);
  });
});

describe('a real clock of an emulator', () => {
  it('nextAt is right, also after advance', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
    create({ clock: 'real' });
    await emulator.emit('stt.completed');
    await emulator.settled();
    const dueIn = () => (emulator.deliveries.list()[0]?.nextAt ?? 0) - emulator.now();
    expect(dueIn()).toBe(30_000);
    await emulator.advance(20_000);
    expect(dueIn()).toBe(10_000);
  });

  it('a real clock runs by itself, and its waits pass `speed` times faster', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'], now: START });
    create({ clock: 'real', speed: 100 });
    await emulator.emit('stt.completed');
    await emulator.settled();
    await vi.advanceTimersByTimeAsync(299);
    expect(numbers()).toEqual([1]);
    await vi.advanceTimersByTimeAsync(2);
    await emulator.settled();
    expect(numbers()).toEqual([1, 2]);
    expect(emulator.now() - START).toBe(301);
  });

  it('advance lets a wait pass at once', async () => {
    create({ clock: 'real' });
    await emulator.emit('stt.completed');
    await emulator.runUntilIdle();
    expect(emulator.totals).toMatchObject({ attempts: 6, dead: 1 });
  });
});

describe('invalid options of the clock', () => {
  it.each([
    [{ speed: 2 }, 'speed needs a real clock'],
    [{ clock: 'real', speed: 0 }, 'speed must be above 0'],
    [{ clock: 'real', speed: Number.NaN }, 'speed must be above 0'],
    [{ clock: 'fast' }, "clock must be 'virtual' or 'real'"],
    [{ startAt: -1 }, 'startAt must be milliseconds'],
    [{ seed: {} }, 'seed must be a string or a number'],
    [{ concurrency: 0 }, 'concurrency must be a positive integer'],
    [{ keep: { attempts: 1.5 } }, 'attempts must be a positive integer'],
    [{ headerPrefix: 'x service' }, 'headerPrefix must be letters, digits and single hyphens, like x-service'],
    [{ fetch: 'yes' }, 'fetch must be a function'],
    [{ apiKey: 'secret' }, 'apiKey must be acct_'],
    [{ account: { plan: 'GOLD' } }, 'plan must be one of FREE'],
    [{ faults: { dorp: 1 } }, "Unknown option 'dorp' in faults. Did you mean 'drop'?"],
  ])('the options %j are refused', (options, message) => {
    create();
    expect(() => createEmulator(options as unknown as EmulatorOptions)).toThrow(message);
  });

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('advance(%s) is refused', async (ms) => {
    create();
    await expect(emulator.advance(ms)).rejects.toThrow('ms must be 0 or more');
  });
});
