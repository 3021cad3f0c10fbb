import { describe, expect, it, vi } from 'vitest';
import { unref, within } from '../src/deadline.js';
import { never } from './support/deliveries.js';

describe('a time limit', () => {
  it('is no reason for the process not to end: that is up to whoever waits', async () => {
    const { mock } = vi.spyOn(globalThis, 'setTimeout');
    const overdue = within(10, never);
    expect(mock.results[0]?.value.hasRef()).toBe(false);
    await expect(overdue).rejects.toThrow('timeout');
  });

  it('leaves nothing behind where the result comes in time', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    expect(await within(60_000, () => 42)).toBe(42);
    await expect(within(60_000, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await expect(
      within(60_000, () => {
        throw new Error('never');
      }),
    ).rejects.toThrow('never');
    expect(vi.getTimerCount()).toBe(0);
  });
});

it('a timer that is only a number, as in browsers and workers, can be no reason not to end', () => {
  expect(() => unref(7 as unknown as ReturnType<typeof setTimeout>)).not.toThrow();
});
