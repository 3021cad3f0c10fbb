import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { inParallel } from '../../src/cli/in-parallel.js';

/** What was started, and how many ran at once at most. */
async function watched(count: number, concurrency: number, task: (index: number) => Promise<void> = async () => {}) {
  const started: number[] = [];
  let running = 0;
  let most = 0;
  const ended = inParallel(count, concurrency, async (index) => {
    started.push(index);
    running += 1;
    most = Math.max(most, running);
    await setImmediate();
    await task(index).finally(() => {
      running -= 1;
    });
  });
  const error = await ended.catch((reason: unknown) => reason);
  return { started, most, error };
}

describe('a task that runs several times', () => {
  it.each([
    [5, 2, 2],
    [2, 5, 2],
    [3, 1, 1],
    [0, 3, 0],
  ])('a task that runs several times runs %i times with at most %i at once: %i', async (count, concurrency, most) => {
    const started = Array.from({ length: count }, (_, index) => index);
    expect(await watched(count, concurrency)).toEqual({ started, most, error: undefined });
  });

  it('a task that runs several times is not started again once it failed, and fails with the first failure', async () => {
    const failure = new Error('the third');
    const { started, error } = await watched(9, 2, async (index) => {
      if (index === 2) throw failure;
    });
    expect(error).toBe(failure);
    await setImmediate();
    await setImmediate();
    expect(started).toEqual([0, 1, 2, 3]);
  });
});
