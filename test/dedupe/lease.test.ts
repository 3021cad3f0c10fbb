import { type DedupeStore, memoryStore } from 'service-webhooks';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { aStore, later, never, type RecordedStore } from '../support/deliveries.js';
import { elapse, FAILURES, heldClaim, refuse, setUp, throwing, tick } from './set-up.js';

const LEASE = 25_000;
const renewals = (store: RecordedStore) => store.calls.filter((name) => name === 'extend').length;

beforeEach(() => {
  vi.useFakeTimers();
});

describe('the lease of a claimed event', () => {
  it('the lease is renewed after each third of it until the handler has ended', async () => {
    const { store, work, answer } = await heldClaim();
    await elapse(LEASE / 3 - 10);
    expect(renewals(store)).toBe(0);
    await elapse(20);
    expect(renewals(store)).toBe(1);
    await elapse(LEASE / 3);
    expect(renewals(store)).toBe(2);
    work.resolve();
    await answer;
    await elapse(10 * LEASE);
    expect(renewals(store)).toBe(2);
  });

  it('the lease is renewed on a runtime whose timers are numbers', async () => {
    const { setInterval } = globalThis;
    vi.stubGlobal('setInterval', (...timer: Parameters<typeof setInterval>) => Number(setInterval(...timer)));
    const { store, work, answer } = await heldClaim();
    await elapse(0.7 * LEASE);
    expect(renewals(store)).toBe(2);
    work.resolve();
    await answer;
    await elapse(LEASE);
    expect(renewals(store)).toBe(2);
  });

  it('extend() is called for the full leaseMs', async () => {
    const inner = memoryStore();
    const extend = vi.fn(inner.extend);
    await heldClaim(aStore({ extend }, inner), { leaseMs: 9_000 });
    await elapse(3_000);
    expect(extend).toHaveBeenCalledWith(
      expect.objectContaining({ key: 'default:evt_1', fence: expect.any(Number) }),
      expect.objectContaining({ leaseMs: 9_000 }),
    );
  });

  it('an event stays claimed while its handler runs longer than the lease', async () => {
    const { deliver, handler } = await heldClaim();
    for (let i = 0; i < 20; i++) {
      await elapse(LEASE);
      expect(await deliver()).toBe('409 delivery_in_progress');
    }
    expect(handler).toHaveBeenCalledOnce();
  });

  it('the lease is not renewed after 10 minutes, so that the event of a hung handler can run again', async () => {
    const { deliver, store, handler } = await heldClaim();
    await elapse(600_000 + LEASE);
    expect(renewals(store)).toBe(72);
    await elapse(600_000);
    expect(renewals(store)).toBe(72);
    expect(await deliver()).toBe('200 handled');
    expect(handler.mock.calls[1]?.[1]).toMatchObject({ attempt: 2 });
  });

  it('an event whose receiver has died runs in the first retry after the end of its lease', async () => {
    const inner = memoryStore();
    await inner.claim({ key: 'default:evt_1', token: 'dead', fingerprint: 'x', leaseMs: LEASE, retainMs: 1e9 });
    const { deliver, handler } = setUp(aStore({}, inner));
    expect(await deliver()).toBe('409 delivery_in_progress');
    await elapse(LEASE - 1);
    expect(await deliver()).toBe('409 delivery_in_progress');
    await elapse(1);
    expect(await deliver()).toBe('200 handled');
    expect(handler.mock.calls[0]?.[1]).toMatchObject({ attempt: 2 });
  });

  it("a lease lost to another receiver gives one notice, and the handler's work is acknowledged", async () => {
    const losing = aStore({ extend: async () => 'lost', complete: async () => 'lost' });
    const { store, work, answer, notices, answers } = await heldClaim(losing, { leaseMs: 9_000 });
    await elapse(14_000); // long enough for four renewals
    expect(notices()).toEqual(['lease_lost']);
    work.resolve();
    expect(await answer).toBe('200 handled');
    expect(answers()).toEqual(['handled']);
    expect(store.calls).toEqual(['claim', 'extend', 'complete']);
  });

  it('a renewal that failed is repeated after another third of the lease', async () => {
    const extend = vi.fn<DedupeStore['extend']>().mockImplementationOnce(refuse).mockImplementationOnce(throwing);
    const { notices, find } = await heldClaim(aStore({ extend: extend.mockResolvedValue('ok') }));
    await elapse(26_000);
    expect(extend).toHaveBeenCalledTimes(3);
    expect(find('store_error')).toMatchObject({ operation: 'extend' });
    expect(notices()).toEqual(['store_error', 'store_error']);
  });

  it('a renewal that is answered "lost" after the event was completed gives no notice', async () => {
    const renewal = later<'lost'>();
    const { work, answer, notices } = await heldClaim(aStore({ extend: () => renewal.promise }));
    await elapse(LEASE / 3 + 1);
    work.resolve();
    expect(await answer).toBe('200 handled');
    renewal.resolve('lost');
    await tick();
    expect(notices()).toEqual([]);
  });

  it('a lease longer than a timer can count is never renewed', async () => {
    const { store, work, answer } = await heldClaim(aStore(), { leaseMs: 2 ** 40, retainMs: 2 ** 40 });
    await elapse(1_000);
    work.resolve();
    expect(await answer).toBe('200 handled');
    expect(store.calls).toEqual(['claim', 'complete']);
  });
});

describe('a dedupe store that fails to complete', () => {
  it.each(FAILURES)('the delivery is acknowledged and never released where complete() %s', async (_, complete) => {
    const { deliver, store, find, answers } = setUp(aStore({ complete }));
    expect(await deliver()).toBe('200 handled');
    expect(answers()).toEqual(['handled']);
    expect(find('store_error')).toMatchObject({ operation: 'complete', delivery: { event: { id: 'evt_1' } } });
    await elapse(600_000);
    expect(store.calls).not.toContain('release');
  });

  it('a complete() that hangs delays the answer by 2 s', async () => {
    const answer = vi.fn();
    setUp(aStore({ complete: never }))
      .deliver()
      .then(answer);
    await elapse(1_999);
    expect(answer).not.toHaveBeenCalled();
    await elapse(1);
    expect(answer).toHaveBeenCalledWith('200 handled');
  });

  it('complete() is called again in the background until it succeeds', async () => {
    const inner = memoryStore();
    const complete = vi
      .fn(inner.complete)
      .mockImplementationOnce(refuse)
      .mockImplementationOnce(throwing)
      .mockImplementationOnce(never);
    const { deliver, handler } = setUp(aStore({ complete }, inner));
    expect(await deliver()).toBe('200 handled');
    const callsByWait = [0, 1_000, 5_000, 22_000, 3_600_000].entries();
    for (const [repeats, ms] of callsByWait) {
      await elapse(ms);
      expect(complete).toHaveBeenCalledTimes(Math.min(repeats + 1, 4));
    }
    expect(new Set(complete.mock.calls.map(([ref]) => ref.token)).size).toBe(1);
    expect(await deliver()).toBe('200 duplicate');
    expect(handler).toHaveBeenCalledOnce();
  });

  it('complete() is called no more than five times', async () => {
    const complete = vi.fn(refuse);
    const { deliver, notices } = setUp(aStore({ complete }));
    await deliver();
    await elapse(3_600_000);
    expect(complete).toHaveBeenCalledTimes(5);
    expect(notices()).toEqual(Array(5).fill('store_error'));
  });

  it('a lease lost to another receiver gives one notice, and the answer is 200', async () => {
    const complete = vi.fn(async () => 'lost' as const);
    const { deliver, notices } = setUp(aStore({ complete }));
    expect(await deliver()).toBe('200 handled');
    await elapse(600_000);
    expect(notices()).toEqual(['lease_lost']);
    expect(complete).toHaveBeenCalledOnce();
  });
});

describe('a dedupe store that fails to release', () => {
  const failure = new Error('no disk');

  it.each([...FAILURES, ['hangs', never] as const])(
    'the observer gets the error of the handler where release() %s',
    async (_, release) => {
      const { deliver, handler, find, answers } = setUp(aStore({ release }));
      handler.mockRejectedValueOnce(failure);
      const answer = deliver();
      await elapse(2_000);
      expect(await answer).toBe('500 handler_failed');
      expect(find('failed').error.cause).toBe(failure);
      expect(find('store_error').operation).toBe('release');
      expect(answers()).toEqual(['failed']);
    },
  );

  it('the event runs again at the end of its lease, which is not renewed', async () => {
    const { deliver, handler, store } = setUp(aStore({ release: refuse }));
    handler.mockRejectedValueOnce(failure);
    await deliver();
    await elapse(LEASE - 1);
    expect(await deliver()).toBe('409 delivery_in_progress');
    await elapse(1);
    expect(await deliver()).toBe('200 handled');
    expect(store.calls).not.toContain('extend');
  });
});
