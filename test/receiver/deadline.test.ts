import { beforeEach, describe, expect, it, vi } from 'vitest';
import { startDeadline } from '../../src/receiver/deadline.js';

describe('a deadline', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });

  it('a deadline passes when its time is over, not sooner, and then aborts its signal', async () => {
    const deadline = startDeadline(1_000);
    const passed = vi.fn();
    deadline.passed.then(passed);
    const state = () => [passed.mock.calls.length, deadline.signal.aborted, deadline.remaining()];
    await vi.advanceTimersByTimeAsync(999);
    expect(state()).toEqual([0, false, 1]);
    await vi.advanceTimersByTimeAsync(1);
    expect(state()).toEqual([1, true, 0]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(state()).toEqual([1, true, 0]);
  });

  it('a deadline has an aborted signal also for a handler that asks for it late', async () => {
    const deadline = startDeadline(1_000);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(deadline.signal.aborted).toBe(true);
  });

  it('a deadline never passes once it is cleared', async () => {
    const deadline = startDeadline(1_000);
    const passed = vi.fn();
    deadline.passed.then(passed);
    deadline.clear();
    expect(vi.getTimerCount()).toBe(0);
    await vi.advanceTimersByTimeAsync(60_000);
    expect([passed.mock.calls.length, deadline.signal.aborted]).toEqual([0, false]);
  });

  it('a deadline may be further away than a timer can wait', async () => {
    const { signal } = startDeadline(Number.MAX_SAFE_INTEGER);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(signal.aborted).toBe(false);
  });
});
