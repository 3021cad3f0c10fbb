import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Deadline, later, within } from '../src/deadline.js';
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

describe('a deadline', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });

  it('is over when its time has passed, not sooner, says so and aborts its signal', async () => {
    const deadline = new Deadline(1_000);
    const said = vi.fn();
    deadline.late = said;
    const seen = () => [deadline.over, said.mock.calls.length, deadline.signal.aborted, deadline.remaining()];
    await vi.advanceTimersByTimeAsync(999);
    expect(seen()).toEqual([false, 0, false, 1]);
    await vi.advanceTimersByTimeAsync(1);
    expect(seen()).toEqual([true, 1, true, 0]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(seen()).toEqual([true, 1, true, 0]);
  });

  it('is over also where nobody wants to be told', async () => {
    const deadline = new Deadline(1_000);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(deadline.over).toBe(true);
  });

  it('has a signal that is aborted also for whoever looks late', async () => {
    const deadline = new Deadline(1_000);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(deadline.signal.aborted).toBe(true);
  });

  it('does not come once nobody waits any more', async () => {
    const deadline = new Deadline(1_000);
    deadline.clear();
    expect(vi.getTimerCount()).toBe(0);
    await vi.advanceTimersByTimeAsync(60_000);
    expect([deadline.over, deadline.signal.aborted]).toEqual([false, false]);
  });

  it('may be further away than a timer can count', async () => {
    const { signal } = new Deadline(Number.MAX_SAFE_INTEGER);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(signal.aborted).toBe(false);
  });
});

it('a timer that is only a number, as in browsers and workers, can be no reason not to end', () => {
  vi.spyOn(globalThis, 'setTimeout').mockReturnValue(7 as unknown as ReturnType<typeof setTimeout>);
  expect(later(() => {}, 1)).toBe(7);
});
