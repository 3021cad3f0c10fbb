import { describe, expect, it, vi } from 'vitest';
import { sleep, unrefTimeout, withTimeout } from '../src/timers.js';
import { never } from './support/deliveries.js';

describe('withTimeout', () => {
  it('does not keep the process alive by its timer', async () => {
    const { mock } = vi.spyOn(globalThis, 'setTimeout');
    const overdue = withTimeout(10, never);
    expect(mock.results[0]?.value.hasRef()).toBe(false);
    await expect(overdue).rejects.toThrow('no answer within 10 ms');
  });

  it('rejects with the error of the caller where the caller has one', async () => {
    await expect(withTimeout(1, never, () => new RangeError('late'))).rejects.toThrow(new RangeError('late'));
  });

  it('leaves no timer behind where the result comes in time', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    expect(await withTimeout(60_000, () => 42)).toBe(42);
    await expect(withTimeout(60_000, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await expect(
      withTimeout(60_000, () => {
        throw new Error('never');
      }),
    ).rejects.toThrow('never');
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('sleep', () => {
  it('ends when its signal is aborted, before or during it, and leaves no timer behind', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    await sleep(60_000, AbortSignal.abort());
    const waking = new AbortController();
    const sleeping = sleep(60_000, waking.signal);
    expect(vi.getTimerCount()).toBe(1);
    waking.abort();
    await sleeping;
    expect(vi.getTimerCount()).toBe(0);
  });

  it('keeps the process alive', async () => {
    const { mock } = vi.spyOn(globalThis, 'setTimeout');
    const sleeping = sleep(1);
    expect(mock.results[0]?.value.hasRef()).toBe(true);
    await sleeping;
  });
});

it('unrefTimeout works where a timer is only a number, as in browsers and workers', () => {
  vi.spyOn(globalThis, 'setTimeout').mockReturnValue(7 as unknown as ReturnType<typeof setTimeout>);
  expect(unrefTimeout(() => {}, 1)).toBe(7);
});
