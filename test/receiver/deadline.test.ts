import { beforeEach, expect, it, vi } from 'vitest';
import { startDeadline } from '../../src/receiver/deadline.js';

beforeEach(() => {
  vi.useFakeTimers();
});

function watched(ms: number) {
  const deadline = startDeadline(ms);
  const passed = vi.fn();
  deadline.whenPassed(passed);
  return { deadline, state: () => [passed.mock.calls.length, deadline.signal().aborted, deadline.remaining()] };
}

it("a receiver's deadline passes at its time, not sooner, and aborts its signal", async () => {
  const { state } = watched(1_000);
  await vi.advanceTimersByTimeAsync(999);
  expect(state()).toEqual([0, false, 1]);
  await vi.advanceTimersByTimeAsync(1);
  expect(state()).toEqual([1, true, 0]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(state()).toEqual([1, true, 0]);
});

it("a receiver's deadline that was cleared never passes", async () => {
  const { deadline, state } = watched(1_000);
  deadline.clear();
  expect(vi.getTimerCount()).toBe(0);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(state()).toEqual([0, false, 0]);
});
