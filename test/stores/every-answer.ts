import type { DedupeStore } from 'service-webhooks';
import { expect } from 'vitest';
import { rejection } from '../support/deliveries.js';
import { aClaim, within } from './requests.js';

type Complete = Required<Omit<DedupeStore, 'close'>>;

/** Calls each operation in each state and compares whole answers, where the suite checks its rules. */
export async function expectEveryAnswer(given: DedupeStore): Promise<void> {
  const store = given as Complete;
  const first = aClaim();
  const { key } = first;
  const seen = { fingerprint: 'f', alias: 'a' };
  const second = { ...first, token: 'second', fingerprint: 'other', alias: undefined };
  const leaseMsLeft = expect.toSatisfy(within(60_000));
  const retainMsLeft = expect.toSatisfy(within(3_600_000));

  expect(await store.inspect(key)).toBeUndefined();
  const { fence } = await store.claim(first);
  const ref = { ...first, fence };
  const stranger = { ...ref, token: 'stranger' };
  const held = { status: 'in_progress', fence, retryAfterMs: expect.toSatisfy(within(60_000)), seen };
  expect(fence).toSatisfy((value: number) => Number.isSafeInteger(value) && value > 0);
  expect(await store.claim(first)).toEqual({ status: 'acquired', fence, attempt: 1, seen });
  expect(await store.claim(second)).toEqual(held);
  const known = { attempt: 1, fence, ...seen, retainMsLeft };
  expect(await store.inspect(key)).toEqual({ state: 'in_progress', ...known, leaseMsLeft });
  expect(await store.extend(stranger, first)).toBe('lost');
  expect(await store.extend(ref, first)).toBe('ok');
  expect(await store.release(stranger)).toBe('lost');
  expect(await store.release(ref)).toBe('ok');
  expect(await store.release(ref)).toBe('ok');
  expect(await store.inspect(key)).toEqual({ state: 'released', ...known });
  const taken = await store.claim(second);
  expect(taken).toEqual({ status: 'acquired', fence: expect.any(Number), attempt: 2, seen });
  expect(taken.fence).toBeGreaterThan(fence);
  const secondRef = { ...second, fence: taken.fence };
  expect(await store.complete(ref, first)).toBe('lost');
  expect(await store.complete(secondRef, first)).toBe('ok');
  expect(await store.complete(secondRef, first)).toBe('ok');
  expect(await store.claim(second)).toEqual({ status: 'completed', fence: taken.fence, seen });
  expect(await store.inspect(key)).toEqual({ state: 'completed', ...known, fence: taken.fence, attempt: 2 });
  if (given.purgeExpired) expect(await store.purgeExpired({ limit: 10 })).toBe(0);
  await store.forget(key);
  expect(await store.inspect(key)).toBeUndefined();

  const later = { ...ref, fence: taken.fence + 1 };
  expect(await store.complete(later, first)).toBe('ok');
  expect(await store.claim(second)).toEqual({ status: 'completed', fence: later.fence, seen });
  await store.forget(key);

  const unaliased = { ...first, alias: undefined };
  const { alias: _, ...bare } = seen;
  const again = await store.claim(unaliased);
  expect(again).toEqual({ status: 'acquired', fence: expect.any(Number), attempt: 1, seen: bare });
  expect(again.fence).toBeGreaterThan(later.fence);
  expect(await store.claim(second)).toEqual({ ...held, fence: again.fence, seen: bare });
  const row = { ...known, fence: again.fence, alias: undefined };
  expect(await store.inspect(key)).toEqual({ ...row, state: 'in_progress', leaseMsLeft });
  await store.forget(key);
}

/** Calls each operation with each kind of wrong number; the error names the number. */
export async function expectRefusals(store: DedupeStore): Promise<void> {
  const ref = { ...aClaim(), fence: 1 };
  for (const wrong of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    const calls: [name: string, call: () => Promise<unknown>][] = [
      ['leaseMs', () => store.claim({ ...ref, leaseMs: wrong })],
      ['retainMs', () => store.claim({ ...ref, retainMs: wrong })],
      ['leaseMs', () => store.extend(ref, { leaseMs: wrong })],
      ['retainMs', () => store.complete(ref, { retainMs: wrong })],
    ];
    const { purgeExpired, saveReport } = store;
    if (purgeExpired) calls.push(['limit', () => purgeExpired({ limit: wrong })]);
    const report = { name: 'clips', instance: 'one', text: '{}', ttlMs: wrong };
    if (saveReport) calls.push(['ttlMs', () => saveReport(report)]);
    for (const [name, call] of calls) {
      const message = expect.stringContaining(`${name} must be a positive integer`);
      expect(await rejection(call())).toMatchObject({ code: 'invalid_option', message });
    }
  }
}
