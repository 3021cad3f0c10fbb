import { describe, expect, it, vi } from 'vitest';
import { onAbort, orAborted } from '../../src/client/abort.js';

describe('what follows a signal', () => {
  it('is called once when it is aborted, unless it was taken back', () => {
    const controller = new AbortController();
    const [kept, takenBack] = [vi.fn(), vi.fn()];
    onAbort(controller.signal, kept);
    onAbort(controller.signal, takenBack)();
    controller.abort();
    expect([kept.mock.calls.length, takenBack.mock.calls.length]).toEqual([1, 0]);
  });

  it('is called at once when it is aborted already', () => {
    const stop = vi.fn();
    onAbort(AbortSignal.abort(), stop);
    expect(stop).toHaveBeenCalledTimes(1);
  });

  it('is forgotten when the promise that it was for is settled', async () => {
    const controller = new AbortController();
    const forgotten = vi.spyOn(Set.prototype, 'delete');
    await orAborted(Promise.resolve(), controller.signal);
    await orAborted(Promise.reject(new Error('x')), controller.signal).catch(() => {});
    expect(forgotten.mock.results.filter(({ value }) => value === true)).toHaveLength(2);
  });
});
