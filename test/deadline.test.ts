import { describe, expect, it } from 'vitest';
import { unref, within } from '../src/deadline.js';
import { never } from './support/deliveries.js';

/** What keeps this process from ending. */
const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

describe('a time limit', () => {
  it('keeps the process alive while somebody waits for it, and no longer', async () => {
    const before = timers();
    const overdue = within(10, never);
    expect(timers()).toBe(before + 1);
    await expect(overdue).rejects.toThrow('timeout');
    expect(timers()).toBe(before);
  });

  it('leaves nothing behind where the result comes in time', async () => {
    const before = timers();
    expect(await within(60_000, () => 42)).toBe(42);
    await expect(within(60_000, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(timers()).toBe(before);
  });
});

it('a timer that is only a number, as in browsers and workers, can be no reason not to end', () => {
  expect(() => unref(7 as unknown as ReturnType<typeof setTimeout>)).not.toThrow();
});
