import { type ClaimRequest, type ClaimResult, type DedupeStore, memoryStore } from 'service-webhooks';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { refusal, rejection } from '../support/deliveries.js';

const LEASE = 25_000;
const RETAIN = 259_200_000;

let time: number;
let store: Required<Pick<DedupeStore, 'inspect' | 'forget' | 'purgeExpired'>> & DedupeStore;

const aMemory = (maxEntries?: number) => memoryStore({ now: () => time, maxEntries }) as typeof store;

beforeEach(() => {
  time = 1_000_000;
  store = aMemory();
});

const aClaim = (changes: Partial<ClaimRequest> = {}): ClaimRequest => ({
  key: 'default:evt_1',
  token: 'A',
  fingerprint: 'body-1',
  alias: 'alias-1',
  leaseMs: LEASE,
  retainMs: RETAIN,
  ...changes,
});
const claim = (token: string, changes: Partial<ClaimRequest> = {}) => store.claim(aClaim({ token, ...changes }));
const ref = (token: string, changes: Partial<ClaimRequest> = {}) => ({ ...aClaim({ token, ...changes }), fence: 1 });
const complete = (token: string, changes?: Partial<ClaimRequest>) =>
  store.complete(ref(token, changes), { retainMs: RETAIN });
const release = (token: string, changes?: Partial<ClaimRequest>) => store.release(ref(token, changes));
const extend = (token: string, leaseMs = LEASE) => store.extend(ref(token), { leaseMs });
const inspect = (key = 'default:evt_1') => store.inspect(key);

const acquired = (attempt: number): unknown => expect.objectContaining({ status: 'acquired', attempt });
const fenceOf = async (claimed: Promise<ClaimResult>) => (await claimed).fence;
const inProgress = (retryAfterMs: number): unknown => expect.objectContaining({ status: 'in_progress', retryAfterMs });
const completed: unknown = expect.objectContaining({ status: 'completed' });

describe('the states of a key', () => {
  it('it is acquired at first sight, with attempt 1 and the clock in microseconds as its fence', async () => {
    expect(await claim('A')).toMatchObject({ status: 'acquired', attempt: 1, fence: 1_000_000_000 });
  });

  it('it is in progress for another token, for as long as the lease', async () => {
    await claim('A');
    time += 1_000;
    expect(await claim('B')).toEqual(inProgress(24_000));
  });

  it('it is acquired again by the same token: same fence, same attempt, lease renewed', async () => {
    await claim('A');
    time += 20_000;
    expect(await claim('A')).toEqual(acquired(1));
    time += 20_000;
    expect(await claim('B')).toEqual(inProgress(5_000));
  });

  it('it is completed once its owner says so, also for its owner', async () => {
    await claim('A');
    expect(await complete('A')).toBe('ok');
    expect(await claim('B')).toEqual(completed);
    expect(await claim('A')).toEqual(completed);
    expect(await complete('A')).toBe('ok');
  });

  it('it is free for the next at once when it is released, with a higher fence and attempt', async () => {
    await claim('A');
    expect(await release('A')).toBe('ok');
    expect(await claim('B')).toEqual(acquired(2));
    expect(await release('B')).toBe('ok');
    expect(await claim('A')).toEqual(acquired(3));
  });

  it('it may be released twice, or without having been claimed', async () => {
    expect(await release('A')).toBe('ok');
    await claim('A');
    await release('A');
    expect(await release('A')).toBe('ok');
    expect(await release('B')).toBe('ok');
  });

  it('it is not released any more once it is completed', async () => {
    await claim('A');
    await complete('A');
    expect(await release('A')).toBe('lost');
    expect(await claim('B')).toEqual(completed);
  });

  it('it remembers what came when it was seen first, in all three results', async () => {
    const first = { fingerprint: 'body-1', alias: 'alias-1' };
    const other = { fingerprint: 'body-2', alias: 'alias-2' };
    await claim('A');
    expect((await claim('B', other)).seen).toEqual(first);
    await release('A');
    expect((await claim('B', other)).seen).toEqual(first);
    await complete('B', other);
    expect((await claim('C', other)).seen).toEqual(first);
  });

  it('it remembers that no alias came first', async () => {
    await claim('A', { alias: undefined });
    expect((await claim('B')).seen).toEqual({ fingerprint: 'body-1', alias: undefined });
  });

  it('it does not change for a token that does not own it', async () => {
    await claim('A');
    for (const state of ['in progress', 'completed']) {
      const before = await inspect();
      expect(await complete('B'), state).toBe('lost');
      expect(await release('B'), state).toBe('lost');
      expect(await extend('B'), state).toBe('lost');
      expect(await inspect(), state).toEqual(before);
      await complete('A');
    }
  });

  it('it cannot be extended when it is completed, released or unknown', async () => {
    expect(await extend('A')).toBe('lost');
    await claim('A');
    await release('A');
    expect(await extend('A')).toBe('lost');
    expect(await claim('B')).toEqual(acquired(2));
    await complete('B');
    expect(await extend('B')).toBe('lost');
  });

  it('it is not completed by an owner who gave it back', async () => {
    await claim('A');
    await release('A');
    expect(await complete('A')).toBe('lost');
    expect(await claim('B')).toEqual(acquired(2));
  });

  it('it is not mistaken for a key that only looks alike', async () => {
    const keys = [
      'a:evt_1',
      'a:EVT_1',
      'a:evt_1 ',
      'b:evt_1',
      'a:evt_{1}',
      "a:evt_'%",
      'a:é',
      'a:e\u0301',
      '__proto__',
      'constructor',
      `a:${'x'.repeat(198)}`,
    ];
    for (const key of keys) expect(await claim('A', { key })).toEqual(acquired(1));
    for (const key of keys) expect(await complete('A', { key })).toBe('ok');
    for (const key of keys) expect(await claim('B', { key })).toEqual(completed);
  });

  it('it is known to this store only', async () => {
    await claim('A');
    expect(await aMemory().claim(aClaim({ token: 'B' }))).toEqual(acquired(1));
  });

  it('it says that it reaches no further than this process', () => {
    expect(store.scope).toBe('process');
  });
});

describe('the fence', () => {
  it('it grows with every owner at one instant, also after a key was forgotten', async () => {
    const fences = [await fenceOf(claim('A'))];
    await release('A');
    fences.push(await fenceOf(claim('B')));
    await store.forget('default:evt_1');
    fences.push(await fenceOf(claim('C')));
    expect(fences).toEqual([1_000_000_000, 1_000_000_001, 1_000_000_002]);
  });

  it('it grows after a key was dropped to make room, and when the clock is set back', async () => {
    store = aMemory(1);
    const before = await fenceOf(claim('A'));
    await complete('A');
    await claim('A', { key: 'other' });
    await complete('A', { key: 'other' });
    time -= 500_000;
    expect(await fenceOf(claim('B'))).toBeGreaterThan(before);
  });

  it('it follows the time of day in a new process', async () => {
    const { fence } = await memoryStore().claim(aClaim());
    expect(Math.abs(fence / 1_000 - Date.now())).toBeLessThan(60_000);
  });

  it('it goes on from the fence of an owner whose row was lost', async () => {
    const fence = 7_000_000_000;
    await store.complete({ ...ref('A'), fence }, { retainMs: 1 });
    time += 1;
    expect(await fenceOf(claim('B'))).toBe(fence + 1);
  });
});

describe('durations', () => {
  it.each([0, -0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '1', undefined, null])(
    'a duration of %s is refused, and nothing is written',
    async (value) => {
      const ms = value as number;
      expect((await rejection(claim('A', { leaseMs: ms }))).message).toContain('leaseMs');
      expect((await rejection(claim('A', { retainMs: ms }))).message).toContain('retainMs');
      expect(await inspect()).toBeUndefined();
      await claim('A');
      const before = await inspect();
      expect((await rejection(store.extend(ref('A'), { leaseMs: ms }))).message).toContain('leaseMs');
      expect((await rejection(store.complete(ref('A'), { retainMs: ms }))).message).toContain('retainMs');
      expect(await inspect()).toEqual(before);
    },
  );
});

describe('at the same time', () => {
  it('one of many claims acquires a new key', async () => {
    for (let i = 0; i < 200; i++) {
      const key = `default:evt_${i}`;
      const results = await Promise.all(Array.from({ length: 32 }, (_, j) => claim(`${j}`, { key })));
      expect(results.filter(({ status }) => status === 'acquired')).toHaveLength(1);
    }
  });

  it('one of many claims acquires a key whose lease is over, with attempt 2', async () => {
    await claim('A');
    time += LEASE;
    const results = await Promise.all(Array.from({ length: 32 }, (_, j) => claim(`${j}`)));
    const winners = results.filter(({ status }) => status === 'acquired');
    expect(winners).toEqual([acquired(2)]);
  });

  it('a claim and a completion never give the key to two', async () => {
    for (let i = 0; i < 50; i++) {
      const key = `default:evt_${i}`;
      await claim('A', { key });
      const calls = [() => complete('A', { key }), () => claim('B', { key })];
      const results = await Promise.all((i % 2 ? calls : calls.reverse()).map((call): Promise<unknown> => call()));
      expect(results).toContain('ok');
      expect(results).not.toContainEqual(acquired(2));
      expect(await claim('C', { key })).toEqual(completed);
    }
  });

  it('a release, a claim and a completion never undo the completion', async () => {
    await claim('A');
    await Promise.all([release('A'), claim('B'), complete('B')]);
    const state = await inspect();
    expect(state).toMatchObject({ state: 'completed', attempt: 2 });
    expect(await release('A')).toBe('lost');
    expect(await release('B')).toBe('lost');
    expect(await inspect()).toEqual(state);
  });
});

describe('the lease', () => {
  it('a lease holds up to its last millisecond, and no longer', async () => {
    await claim('A');
    time += LEASE - 1;
    expect(await claim('B')).toEqual(inProgress(1));
    time += 1;
    expect(await claim('B')).toEqual(acquired(2));
  });

  it('a lease is renewed from the moment of the renewal', async () => {
    await claim('A');
    time += LEASE - 1;
    expect(await extend('A')).toBe('ok');
    time += LEASE - 1;
    expect(await claim('B')).toEqual(inProgress(1));
    time += 1;
    expect(await claim('B')).toEqual(acquired(2));
  });

  it('a lease is renewed after its end when no other token has the key', async () => {
    await claim('A');
    time += LEASE + 1;
    expect(await extend('A')).toBe('ok');
    expect(await claim('B')).toEqual(inProgress(LEASE));
  });

  it('a late completion is ok when no other token has the key', async () => {
    await claim('A');
    time += 10 * LEASE;
    expect(await complete('A')).toBe('ok');
    expect(await claim('B')).toEqual(completed);
  });

  it('an owner that has lost its lease to another token changes nothing', async () => {
    await claim('A');
    time += LEASE;
    await claim('B');
    expect([await extend('A'), await release('A'), await complete('A')]).toEqual(['lost', 'lost', 'lost']);
    expect(await claim('C')).toEqual(inProgress(LEASE));
    expect(await complete('B')).toBe('ok');
    expect([await extend('A'), await release('A'), await complete('A')]).toEqual(['lost', 'lost', 'lost']);
    expect(await claim('C')).toEqual(completed);
  });

  it('an owner that claims first after the end of its lease keeps its fence', async () => {
    await claim('A');
    time += LEASE + 1;
    expect(await claim('A')).toEqual(acquired(1));
    expect(await claim('B')).toEqual(inProgress(LEASE));
  });
});

describe('the retention', () => {
  it('the retention counts from the completion', async () => {
    await claim('A');
    time += LEASE;
    await complete('A');
    time += RETAIN - 1;
    expect(await claim('B')).toEqual(completed);
    time += 1;
    expect(await claim('B')).toEqual(acquired(1));
  });

  it('a released row is kept, so that its attempts go on', async () => {
    await claim('A');
    await release('A');
    time += RETAIN - 1;
    expect(await claim('B')).toEqual(acquired(2));
  });

  it('a row whose retention is over is absent for every call', async () => {
    await claim('A');
    await complete('A');
    time += RETAIN;
    expect(await inspect()).toBeUndefined();
    expect(await extend('A')).toBe('lost');
    expect(await release('A')).toBe('ok');
    const results = await Promise.all(['B', 'C', 'D'].map((token) => claim(token, { fingerprint: token })));
    expect(results.filter(({ status }) => status === 'acquired')).toHaveLength(1);
    expect(results[0]?.seen).toMatchObject({ fingerprint: 'B' });
  });

  it('the retention is not shortened by the claim of another token', async () => {
    await claim('A');
    await complete('A');
    const before = await inspect();
    await claim('B', { retainMs: 21_600_000 });
    expect(await inspect()).toEqual(before);
  });

  it('a row that was lost is kept for the retention of its completion', async () => {
    await claim('A');
    await store.forget('default:evt_1');
    expect(await store.complete({ ...ref('A'), fence: 7_000_000_000 }, { retainMs: RETAIN })).toBe('ok');
    expect(await inspect()).toMatchObject({
      state: 'completed',
      fence: 7_000_000_000,
      fingerprint: 'body-1',
      alias: 'alias-1',
      retainMsLeft: RETAIN,
    });
    expect(await claim('B')).toEqual(completed);
  });
});

describe('for the operator', () => {
  it('a row can be looked at in every state', async () => {
    const row = { fence: expect.any(Number), attempt: 1, fingerprint: 'body-1', alias: 'alias-1' };
    expect(await inspect()).toBeUndefined();
    await claim('A');
    time += 1_000;
    expect(await inspect()).toEqual({
      ...row,
      state: 'in_progress',
      leaseMsLeft: LEASE - 1_000,
      retainMsLeft: RETAIN - 1_000,
    });
    await release('A');
    expect(await inspect()).toMatchObject({ ...row, state: 'released', leaseMsLeft: undefined });
    await claim('B');
    await complete('B');
    expect(await inspect()).toEqual({
      ...row,
      state: 'completed',
      attempt: 2,
      leaseMsLeft: undefined,
      retainMsLeft: RETAIN,
    });
  });

  it('a row does not show the token, with which it could be changed', async () => {
    await claim('very-secret-token');
    expect(JSON.stringify(await inspect())).not.toContain('very-secret-token');
  });

  it('a row can be forgotten, so that a redelivery runs again', async () => {
    await claim('A');
    await complete('A');
    await store.forget('default:evt_1');
    await store.forget('default:evt_2');
    expect(await claim('B')).toEqual(acquired(1));
  });

  it('expired rows can be purged in batches, and no others', async () => {
    for (let i = 0; i < 5; i++) {
      await claim('A', { key: `old:${i}` });
      await complete('A', { key: `old:${i}` });
    }
    time += RETAIN;
    await claim('A', { key: 'new:done' });
    await complete('A', { key: 'new:done' });
    await claim('A', { key: 'new:busy' });
    expect(await store.purgeExpired({ limit: 3 })).toBe(3);
    expect(await store.purgeExpired({ limit: 3 })).toBe(2);
    expect(await store.purgeExpired({ limit: 3 })).toBe(0);
    expect(await claim('B', { key: 'new:done' })).toEqual(completed);
    expect(await claim('B', { key: 'new:busy' })).toEqual(inProgress(LEASE));
  });

  it('a purge without a limit is refused', async () => {
    for (const limit of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect((await rejection(store.purgeExpired({ limit }))).message).toContain('limit must be');
    }
  });
});

describe('the bound', () => {
  const fill = async (from: number, to: number, finish: 'complete' | 'release' | 'leave' = 'complete') => {
    for (let i = from; i < to; i++) {
      await claim('A', { key: `k:${i}` });
      if (finish === 'complete') await complete('A', { key: `k:${i}` });
      if (finish === 'release') await release('A', { key: `k:${i}` });
    }
  };
  const statusOf = async (i: number): Promise<ClaimResult['status'] | 'absent'> => {
    const record = await inspect(`k:${i}`);
    return record === undefined ? 'absent' : record.state === 'completed' ? 'completed' : 'in_progress';
  };
  const known = async (to: number) => {
    const states = await Promise.all(Array.from({ length: to }, (_, i) => statusOf(i)));
    return states.flatMap((state, i) => (state === 'absent' ? [] : [i]));
  };

  it('nothing is dropped below the bound', async () => {
    store = aMemory(10);
    await fill(0, 10);
    expect(await known(10)).toHaveLength(10);
  });

  it('the oldest half is dropped when the bound is reached', async () => {
    store = aMemory(10);
    await fill(0, 11);
    expect(await known(11)).toEqual([5, 6, 7, 8, 9, 10]);
  });

  it('the bound holds for any number of keys', async () => {
    store = aMemory(100);
    await fill(0, 5_000);
    const rest = await known(5_000);
    expect(rest.length).toBeLessThanOrEqual(100);
    expect(rest.length).toBeGreaterThanOrEqual(50);
    expect(rest).toEqual(Array.from({ length: rest.length }, (_, i) => 5_000 - rest.length + i));
  });

  it('an event in progress is never dropped, however old', async () => {
    store = aMemory(10);
    await fill(0, 3, 'leave');
    await fill(3, 200);
    expect((await known(200)).slice(0, 3)).toEqual([0, 1, 2]);
    for (const i of [0, 1, 2]) expect(await claim('B', { key: `k:${i}` })).toEqual(inProgress(LEASE));
  });

  it('a store takes new keys when all but one are in progress', async () => {
    store = aMemory(10);
    await fill(0, 9, 'leave');
    await fill(9, 50);
    expect(await known(50)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 49]);
  });

  it('a new key is refused while all are in progress, and taken when one is done', async () => {
    store = aMemory(4);
    await fill(0, 4, 'leave');
    await expect(claim('A', { key: 'k:4' })).rejects.toThrow(
      'maxEntries is too small: all remembered events are in progress',
    );
    expect(await known(5)).toEqual([0, 1, 2, 3]);
    expect(await claim('A', { key: 'k:0' })).toEqual(acquired(1));
    expect(await complete('A', { key: 'k:1' })).toBe('ok');
    expect(await claim('A', { key: 'k:4' })).toEqual(acquired(1));
    expect(await known(5)).toEqual([0, 2, 3, 4]);
  });

  it('released rows and claims whose lease is over are dropped to make room', async () => {
    store = aMemory(4);
    await fill(0, 2, 'release');
    await fill(2, 4, 'leave');
    await fill(4, 5);
    expect(await known(5)).toEqual([2, 3, 4]);
    time += LEASE;
    await fill(5, 8);
    expect((await known(8)).slice(-3)).toEqual([5, 6, 7]);
  });

  it('a store of one entry works', async () => {
    store = aMemory(1);
    await fill(0, 3);
    expect(await known(3)).toEqual([2]);
    await claim('A', { key: 'k:9' });
    await expect(claim('A', { key: 'k:10' })).rejects.toThrow('in progress');
  });

  it('completions of lost rows are bounded too', async () => {
    store = aMemory(4);
    for (let i = 0; i < 50; i++) expect(await complete('A', { key: `k:${i}` })).toBe('ok');
    expect((await known(50)).length).toBeLessThanOrEqual(4);
  });

  it('a key counts once, however often it is claimed', async () => {
    store = aMemory(2);
    await fill(0, 2);
    time += RETAIN;
    await fill(0, 2);
    expect(await known(2)).toEqual([0, 1]);
  });

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '10', null])('a bound of %s is refused', (maxEntries) => {
    expect(refusal(() => memoryStore({ maxEntries: maxEntries as number })).message).toContain('maxEntries');
  });

  it('a bound of undefined is the default', async () => {
    expect((await memoryStore({ maxEntries: undefined, now: undefined }).claim(aClaim())).status).toBe('acquired');
  });
});

describe('its options', () => {
  it('an option that is not known is refused, with the nearest name', () => {
    const error = refusal(() => memoryStore({ maxEntrys: 5 } as never));
    expect(error.message).toContain("nknown option 'maxEntrys' in memoryStore");
    expect(`${error.message} ${error.hint}`).toContain("id you mean 'maxEntries'?");
  });
});

describe('its clock', () => {
  it('the clock never jumps, unless another one is passed', async () => {
    vi.useFakeTimers();
    const steady = memoryStore();
    await steady.claim(aClaim());
    vi.setSystemTime(Date.now() + 3_600_000);
    expect(await steady.claim(aClaim({ token: 'B' }))).toEqual(inProgress(LEASE));
    vi.setSystemTime(Date.now() - 7_200_000);
    await vi.advanceTimersByTimeAsync(LEASE);
    expect(await steady.claim(aClaim({ token: 'B' }))).toEqual(acquired(2));
    vi.useRealTimers();
  });

  it.each([null, 0, {}, new Date()])('a clock that is not a function is refused: %j', (clock) => {
    expect(refusal(() => memoryStore({ now: clock as unknown as () => number })).message).toContain('now');
  });
});
