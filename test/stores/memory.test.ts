import { type ClaimRequest, type ClaimResult, type DedupeStore, memoryStore } from 'service-webhooks';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { refusal, rejection } from '../support/deliveries.js';
import { expectEveryAnswer, expectRefusals } from './every-answer.js';

// The rules for every store are checked by storeSuite, in packages/suites/test/stores/suite.test.ts.
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
const inspect = (key = 'default:evt_1') => store.inspect(key);

const acquired = (attempt: number): unknown => expect.objectContaining({ status: 'acquired', attempt });
const fenceOf = async (claimed: Promise<ClaimResult>) => (await claimed).fence;
const inProgress = (retryAfterMs: number): unknown => expect.objectContaining({ status: 'in_progress', retryAfterMs });
const completed: unknown = expect.objectContaining({ status: 'completed' });

describe('the answers', () => {
  it('each operation is answered with what the store knows of the event', async () => {
    await expectEveryAnswer(memoryStore());
  });

  it('a key is new to another store of the same process', async () => {
    await claim('A');
    expect(await aMemory().claim(aClaim({ token: 'B' }))).toEqual(acquired(1));
    expect(store.scope).toBe('process');
  });

  it.each(['__proto__', 'constructor'])('the key %s is a key like any other', async (key) => {
    expect(await claim('A', { key })).toEqual(acquired(1));
    expect(await complete('A', { key })).toBe('ok');
    expect(await claim('B', { key })).toEqual(completed);
  });
});

describe('the fence', () => {
  it('owners at one instant have growing fences, also after a key was forgotten', async () => {
    const fences = [await fenceOf(claim('A'))];
    await release('A');
    fences.push(await fenceOf(claim('B')));
    await store.forget('default:evt_1');
    fences.push(await fenceOf(claim('C')));
    expect(fences).toEqual([1_000_000_000, 1_000_000_001, 1_000_000_002]);
  });

  it('a key that was dropped to make room has a higher one, even when the clock is set back', async () => {
    store = aMemory(1);
    const before = await fenceOf(claim('A'));
    await complete('A');
    await claim('A', { key: 'other' });
    await complete('A', { key: 'other' });
    time -= 500_000;
    expect(await fenceOf(claim('B'))).toBeGreaterThan(before);
  });

  it('a new process begins with the time of day', async () => {
    const { fence } = await memoryStore().claim(aClaim());
    expect(Math.abs(fence / 1_000 - Date.now())).toBeLessThan(60_000);
  });

  it('a key whose row was lost continues from the fence of its completion', async () => {
    const fence = 7_000_000_000;
    await store.complete({ ...ref('A'), fence }, { retainMs: 1 });
    time += 1;
    expect(await fenceOf(claim('B'))).toBe(fence + 1);
  });
});

describe('numbers', () => {
  it('an error names the wrong number', async () => {
    await expectRefusals(memoryStore());
  });

  it.each([0, -0, '1', undefined, null])('nothing is written for the duration %s', async (value) => {
    const ms = value as number;
    await rejection(claim('A', { leaseMs: ms }));
    await rejection(claim('A', { retainMs: ms }));
    expect(await inspect()).toBeUndefined();
    await claim('A');
    const before = await inspect();
    await rejection(store.extend(ref('A'), { leaseMs: ms }));
    await rejection(store.complete(ref('A'), { retainMs: ms }));
    expect(await inspect()).toEqual(before);
  });
});

describe('the lease', () => {
  it('a claim holds up to the last millisecond of its lease', async () => {
    await claim('A');
    time += LEASE - 1;
    expect(await claim('B')).toEqual(inProgress(1));
    time += 1;
    expect(await claim('B')).toEqual(acquired(2));
  });
});

describe('the retention', () => {
  it('a completed event is forgotten when the retention since its completion is over', async () => {
    await claim('A');
    time += LEASE;
    await complete('A');
    time += RETAIN - 1;
    expect(await claim('B')).toEqual(completed);
    time += 1;
    expect(await claim('B')).toEqual(acquired(1));
  });

  it('the attempts of a released event go on up to its last millisecond', async () => {
    await claim('A');
    await release('A');
    time += RETAIN - 1;
    expect(await claim('B')).toEqual(acquired(2));
  });
});

describe('maxEntries', () => {
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

  it.each([
    [10, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
    [11, [5, 6, 7, 8, 9, 10]],
  ])('a store of ten entries drops the oldest half beyond them: %d events', async (events, rest) => {
    store = aMemory(10);
    await fill(0, events);
    expect(await known(events)).toEqual(rest);
  });

  it('a store of 100 entries remembers 50 to 100 of the newest of 5,000 events', async () => {
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

  it('new keys replace each other when all but one are in progress', async () => {
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

  it('one entry is enough for a store', async () => {
    store = aMemory(1);
    await fill(0, 3);
    expect(await known(3)).toEqual([2]);
    await claim('A', { key: 'k:9' });
    await expect(claim('A', { key: 'k:10' })).rejects.toThrow('in progress');
  });

  it('completions of lost rows are dropped like any others', async () => {
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

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '10', null])('the number %s is refused', (maxEntries) => {
    expect(refusal(() => memoryStore({ maxEntries: maxEntries as number })).message).toContain('maxEntries');
  });

  it('a store without options takes the defaults', async () => {
    expect((await memoryStore({ maxEntries: undefined, now: undefined }).claim(aClaim())).status).toBe('acquired');
  });
});

describe('the options', () => {
  it('an unknown one is refused, with the nearest name', () => {
    const error = refusal(() => memoryStore({ maxEntrys: 5 } as never));
    expect(error.message).toContain("nknown option 'maxEntrys' in memoryStore");
    expect(`${error.message} ${error.hint}`).toContain("id you mean 'maxEntries'?");
  });

  it.each([null, 0, {}, new Date()])('the clock %j is refused, since it is no function', (clock) => {
    expect(refusal(() => memoryStore({ now: clock as unknown as () => number })).message).toContain('now');
  });

  it('a lease does not depend on the time of day by default', async () => {
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
});
