import { beforeEach, expect, it, vi } from 'vitest';
import { startDeadline } from '../../src/receiver/deadline.js';
import { countingControllers } from './traps.js';

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

it("a receiver's deadline that has passed calls at once", () => {
  const deadline = startDeadline(1_000);
  vi.advanceTimersByTime(1_000);
  const late = vi.fn();
  deadline.whenPassed(late);
  expect(late).toHaveBeenCalledOnce();
  expect(deadline.signal().aborted).toBe(true);
});

it.each([
  [60_000, 10_000],
  [10_001, 10_000],
  [10_000, 10_000],
  [1_000, 1_000],
])('with a deadline of %d ms, a body is late after %d ms, by one timer', async (ms, limit) => {
  const deadline = startDeadline(ms);
  const [bodyIsLate, passed] = [vi.fn(), vi.fn()];
  deadline.whenBodyIsLate(bodyIsLate);
  deadline.whenPassed(passed);
  await vi.advanceTimersByTimeAsync(limit - 1);
  expect([bodyIsLate.mock.calls.length, vi.getTimerCount()]).toEqual([0, 1]);
  await vi.advanceTimersByTimeAsync(1);
  expect(bodyIsLate).toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(ms - limit);
  expect([passed.mock.calls.length, vi.getTimerCount()]).toEqual([1, 0]);
});

it("a receiver's deadline does not move by the time for which the process was blocked", async () => {
  const { state } = watched(15_000);
  vi.setSystemTime(Date.now());
  await vi.advanceTimersByTimeAsync(9_999);
  const now = performance.now();
  vi.spyOn(performance, 'now').mockReturnValue(now + 4_000);
  await vi.advanceTimersByTimeAsync(1); // the timer of 10 s runs at 14 s
  vi.mocked(performance.now).mockRestore();
  await vi.advanceTimersByTimeAsync(1_002);
  expect(state()[0]).toBe(1);
});

it("a receiver's deadline has one signal, and makes it when it is asked for", () => {
  const made = countingControllers();
  const deadline = startDeadline(1_000);
  expect(made.count).toBe(0);
  expect(deadline.signal()).toBe(deadline.signal());
  expect(made.count).toBe(1);
});

it("a receiver's deadline that was cleared never passes", async () => {
  const { deadline, state } = watched(1_000);
  deadline.clear();
  expect(vi.getTimerCount()).toBe(0);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(state()).toEqual([0, false, 0]);
});
