import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, vi } from 'vitest';
import { orAborted, sharedCall, sleep, unrefTimeout, withTimeLimit, withTimeout } from '../src/timers.js';
import { never } from './support/deliveries.js';

describe('withTimeout', () => {
  it('the timer does not keep the process alive', async () => {
    const { mock } = vi.spyOn(globalThis, 'setTimeout');
    const overdue = withTimeout(10, never);
    expect(mock.results[0]?.value.hasRef()).toBe(false);
    await expect(overdue).rejects.toThrow('no answer within 10 ms');
  });

  it('the promise rejects with the error of the caller when the time is over', async () => {
    await expect(withTimeout(1, never, () => new RangeError('late'))).rejects.toThrow(new RangeError('late'));
  });

  it('a result in time leaves no timer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    expect(await withTimeout(60_000, () => 42)).toBe(42);
    await expect(withTimeout(60_000, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await expect(withTimeout(60_000, () => JSON.parse('{'))).rejects.toThrow(SyntaxError);
    expect(vi.getTimerCount()).toBe(0);
  });
});

it('who joins a shared call waits until the call has lasted for its limit', async () => {
  vi.useFakeTimers();
  const call = vi.fn(never);
  const shared = sharedCall(2_000, call);
  const ends = [shared()];
  await vi.advanceTimersByTimeAsync(1_500);
  ends.push(shared());
  const rejected = Promise.all(ends.map((end) => expect(end).rejects.toThrow('no answer')));
  await vi.advanceTimersByTimeAsync(500);
  await rejected;
  const late = expect(shared()).rejects.toThrow('no answer');
  await vi.advanceTimersByTimeAsync(0);
  await late;
  expect(call).toHaveBeenCalledOnce();
});

it('unrefTimeout returns the timer where it is only a number, as in browsers and workers', () => {
  vi.spyOn(globalThis, 'setTimeout').mockReturnValue(7 as unknown as ReturnType<typeof setTimeout>);
  expect(unrefTimeout(() => {}, 1)).toBe(7);
});

describe('orAborted', () => {
  it('a pending promise rejects with the reason of the signal', async () => {
    const reason = new Error('enough');
    const controller = new AbortController();
    const result = orAborted(never(), controller.signal);
    controller.abort(reason);
    await expect(result).rejects.toBe(reason);
  });

  it('an aborted signal rejects at once', async () => {
    const reason = new Error('enough');
    await expect(orAborted(never(), AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  it('a promise that settles first keeps its own result', async () => {
    const controller = new AbortController();
    const failure = new Error('own');
    const results = [
      orAborted(Promise.resolve('own'), controller.signal),
      orAborted(Promise.reject(failure), controller.signal),
    ];
    await expect(results[0]).resolves.toBe('own');
    await expect(results[1]).rejects.toBe(failure);
    controller.abort();
  });

  it('a signal does not keep the results of settled promises in memory', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage: () => void = runInNewContext('gc');
    const { signal } = new AbortController();
    const settle = async (promise: Promise<object>) =>
      new WeakRef(await orAborted(promise, signal).catch((error: object) => error));
    const references = [await settle(Promise.resolve({})), await settle(Promise.reject({}))];
    await new Promise(setImmediate); // a WeakRef keeps its object until the end of the job
    collectGarbage();
    expect(references.map((reference) => reference.deref())).toEqual([undefined, undefined]);
    expect(signal.aborted).toBe(false);
  });
});

describe('withTimeLimit', () => {
  const limit = { ms: 60_000, timedOut: () => new Error('too late'), signal: undefined };

  it('a task that ignores its signal rejects when the time is over', async () => {
    await expect(withTimeLimit({ ...limit, ms: 1 }, never)).rejects.toThrow('too late');
  });

  it('a task does not start where the signal is already aborted', async () => {
    const run = vi.fn(never);
    await expect(withTimeLimit({ ...limit, signal: AbortSignal.abort() }, run)).rejects.toThrow('aborted');
    expect(run).not.toHaveBeenCalled();
  });

  it('a task leaves no timer when it has ended', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    await withTimeLimit(limit, async () => expect(vi.getTimerCount()).toBe(1));
    expect(vi.getTimerCount()).toBe(0);
  });

  it('twelve tasks add one listener to their signal, so that Node warns of no leak', async () => {
    const controller = new AbortController();
    const listen = vi.spyOn(controller.signal, 'addEventListener');
    const tasks = Array.from({ length: 12 }, () => withTimeLimit({ ...limit, signal: controller.signal }, never));
    controller.abort();
    const results = await Promise.allSettled(tasks);
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(12);
    expect(listen).toHaveBeenCalledTimes(1);
  });
});

describe('sleep', () => {
  it('an aborted sleep rejects and leaves no timer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const controller = new AbortController();
    const slept = sleep(60_000, controller.signal);
    expect(vi.getTimerCount()).toBe(1);
    controller.abort();
    await expect(slept).rejects.toMatchObject({ name: 'AbortError' });
    expect(vi.getTimerCount()).toBe(0);
    await expect(sleep(60_000, controller.signal)).rejects.toMatchObject({ name: 'AbortError' });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('the timer keeps the process alive', async () => {
    const { mock } = vi.spyOn(globalThis, 'setTimeout');
    const slept = sleep(1);
    expect(mock.results[0]?.value.hasRef()).toBe(true);
    await slept;
  });
});
