import { type DedupeStore, memoryStore } from 'service-webhooks';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { aStore, later, never, type RecordedStore } from '../support/deliveries.js';
import { elapse, FAILURES, heldClaim, refuse, setUp, throwing, tick } from './set-up.js';

const LEASE = 25_000;
const renewals = (store: RecordedStore) => store.calls.filter((name) => name === 'extend').length;

beforeEach(() => {
  vi.useFakeTimers();
});

describe('the lease', () => {
  it('a third of the lease passes between renewals, which end with the handler', async () => {
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

  it('a renewal asks for the full length', async () => {
    const inner = memoryStore();
    const extend = vi.fn(inner.extend);
    await heldClaim(aStore({ extend }, inner), { leaseMs: 9_000 });
    await elapse(3_000);
    expect(extend).toHaveBeenCalledWith(
      expect.objectContaining({ key: 'default:evt_1', fence: expect.any(Number) }),
      expect.objectContaining({ leaseMs: 9_000 }),
    );
  });

  it('a handler that runs longer keeps its event', async () => {
    const { deliver, handler } = await heldClaim();
    for (let i = 0; i < 20; i++) {
      await elapse(LEASE);
      expect(await deliver()).toBe('409 delivery_in_progress');
    }
    expect(handler).toHaveBeenCalledOnce();
  });

  it('a handler that hangs loses its event after 10 minutes', async () => {
    const { deliver, store, handler } = await heldClaim();
    await elapse(600_000 + LEASE);
    expect(renewals(store)).toBe(72);
    await elapse(600_000);
    expect(renewals(store)).toBe(72);
    expect(await deliver()).toBe('200 handled');
    expect(handler.mock.calls[1]?.[1]).toMatchObject({ attempt: 2 });
  });

  it('an event whose owner has died runs as soon as its lease is over', async () => {
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

  it('a loss to another owner is noticed once, and the work is acknowledged', async () => {
    const losing = aStore({ extend: async () => 'lost', complete: async () => 'lost' });
    const { store, work, answer, notices, answers } = await heldClaim(losing, { leaseMs: 9_000 });
    await elapse(14_000); // long enough for four renewals
    expect(notices()).toEqual(['lease_lost']);
    work.resolve();
    expect(await answer).toBe('200 handled');
    expect(answers()).toEqual(['handled']);
    expect(store.calls).toEqual(['claim', 'extend', 'complete']);
  });

  it('a renewal that failed is tried again a third of the lease later', async () => {
    const extend = vi.fn<DedupeStore['extend']>().mockImplementationOnce(refuse).mockImplementationOnce(throwing);
    const { notices, find } = await heldClaim(aStore({ extend: extend.mockResolvedValue('ok') }));
    await elapse(26_000);
    expect(extend).toHaveBeenCalledTimes(3);
    expect(find('store_error')).toMatchObject({ operation: 'extend' });
    expect(notices()).toEqual(['store_error', 'store_error']);
  });

  it('a renewal that the completion has overtaken reports no loss', async () => {
    const renewal = later<'lost'>();
    const { work, answer, notices } = await heldClaim(aStore({ extend: () => renewal.promise }));
    await elapse(LEASE / 3 + 1);
    work.resolve();
    expect(await answer).toBe('200 handled');
    renewal.resolve('lost');
    await tick();
    expect(notices()).toEqual([]);
  });

  it('a length beyond what a timer can count causes no renewal', async () => {
    const { store, work, answer } = await heldClaim(aStore(), { leaseMs: 2 ** 40, retainMs: 2 ** 40 });
    await elapse(1_000);
    work.resolve();
    expect(await answer).toBe('200 handled');
    expect(store.calls).toEqual(['claim', 'complete']);
  });
});

describe('a store that fails to complete', () => {
  it.each(FAILURES)('the delivery is acknowledged and never released where the call %s', async (_, complete) => {
    const { deliver, store, find, answers } = setUp(aStore({ complete }));
    expect(await deliver()).toBe('200 handled');
    expect(answers()).toEqual(['handled']);
    expect(find('store_error')).toMatchObject({ operation: 'complete', delivery: { event: { id: 'evt_1' } } });
    await elapse(600_000);
    expect(store.calls).not.toContain('release');
  });

  it('a call that hangs delays the answer by 2 s', async () => {
    const answer = vi.fn();
    setUp(aStore({ complete: never }))
      .deliver()
      .then(answer);
    await elapse(1_999);
    expect(answer).not.toHaveBeenCalled();
    await elapse(1);
    expect(answer).toHaveBeenCalledWith('200 handled');
  });

  it('the completion is repeated in the background until it succeeds', async () => {
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

  it('the receiver ends its calls after five', async () => {
    const complete = vi.fn(refuse);
    const { deliver, notices } = setUp(aStore({ complete }));
    await deliver();
    await elapse(3_600_000);
    expect(complete).toHaveBeenCalledTimes(5);
    expect(notices()).toEqual(Array(5).fill('store_error'));
  });

  it('a loss to another owner is noticed once, and answered 200', async () => {
    const complete = vi.fn(async () => 'lost' as const);
    const { deliver, notices } = setUp(aStore({ complete }));
    expect(await deliver()).toBe('200 handled');
    await elapse(600_000);
    expect(notices()).toEqual(['lease_lost']);
    expect(complete).toHaveBeenCalledOnce();
  });
});

describe('a store that fails to release', () => {
  const failure = new Error('no disk');

  it.each([...FAILURES, ['hangs', never] as const])(
    'the error of the handler is reported where the call %s',
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
