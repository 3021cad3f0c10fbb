import { type ClaimRequest, type DedupeStore, isWebhookError } from 'service-webhooks';
import { expect } from 'vitest';

type Complete = Required<Omit<DedupeStore, 'close'>>;

/** A key that nobody used before. */
function aClaim(): ClaimRequest {
  const [key, token] = [`default:evt_${crypto.randomUUID()}`, crypto.randomUUID()];
  return { key, token, fingerprint: 'f', alias: 'a', leaseMs: 60_000, retainMs: 3_600_000 };
}

/** Calls each operation in each state, and looks at the whole of each answer, where the suite looks at its rules. */
export async function expectEveryAnswer(given: DedupeStore): Promise<void> {
  const store = given as Complete;
  const first = aClaim();
  const { key } = first;
  const seen = { fingerprint: 'f', alias: 'a' };
  const ref = { ...first, fence: 1 };
  const second = { ...first, token: 'second', fingerprint: 'other', alias: undefined };
  const secondRef = { ...second, fence: 2 };
  const stranger = { ...ref, token: 'stranger' };
  const held = { status: 'in_progress', fence: 1, retryAfterMs: expect.toSatisfy(within(60_000)), seen };
  const leaseMsLeft = expect.toSatisfy(within(60_000));
  const retainMsLeft = expect.toSatisfy(within(3_600_000));

  expect(await store.inspect(key)).toBeUndefined();
  expect(await store.claim(first)).toEqual({ status: 'acquired', fence: 1, attempt: 1, seen });
  expect(await store.claim(first)).toEqual({ status: 'acquired', fence: 1, attempt: 1, seen });
  expect(await store.claim(second)).toEqual(held);
  const known = { attempt: 1, fence: 1, ...seen, retainMsLeft };
  expect(await store.inspect(key)).toEqual({ state: 'in_progress', ...known, leaseMsLeft });
  expect(await store.extend(stranger, first)).toBe('lost');
  expect(await store.extend(ref, first)).toBe('ok');
  expect(await store.release(stranger)).toBe('lost');
  expect(await store.release(ref)).toBe('ok');
  expect(await store.release(ref)).toBe('ok');
  expect(await store.inspect(key)).toEqual({ state: 'released', ...known });
  expect(await store.claim(second)).toEqual({ status: 'acquired', fence: 2, attempt: 2, seen });
  expect(await store.complete(ref, first)).toBe('lost');
  expect(await store.complete(secondRef, first)).toBe('ok');
  expect(await store.complete(secondRef, first)).toBe('ok');
  expect(await store.claim(second)).toEqual({ status: 'completed', fence: 2, seen });
  expect(await store.inspect(key)).toEqual({ state: 'completed', ...known, fence: 2, attempt: 2 });
  if (given.purgeExpired) expect(await store.purgeExpired({ limit: 10 })).toBe(0);
  await store.forget(key);
  expect(await store.inspect(key)).toBeUndefined();

  expect(await store.complete({ ...ref, fence: 7 }, first)).toBe('ok');
  expect(await store.claim(second)).toEqual({ status: 'completed', fence: 7, seen });
  await store.forget(key);

  const unaliased = { ...first, alias: undefined };
  const { alias: _, ...bare } = seen;
  expect(await store.claim(unaliased)).toEqual({ status: 'acquired', fence: 1, attempt: 1, seen: bare });
  expect(await store.claim(second)).toEqual({ ...held, seen: bare });
  expect(await store.inspect(key)).toEqual({ ...known, alias: undefined, state: 'in_progress', leaseMsLeft });
  await store.forget(key);
}

/** Each operation with each number it takes wrong, and which one that was. */
export async function expectRefusals(store: DedupeStore): Promise<void> {
  const ref = { ...aClaim(), fence: 1 };
  for (const wrong of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    const calls: [name: string, call: () => Promise<unknown> | undefined][] = [
      ['leaseMs', () => store.claim({ ...ref, leaseMs: wrong })],
      ['retainMs', () => store.claim({ ...ref, retainMs: wrong })],
      ['leaseMs', () => store.extend(ref, { leaseMs: wrong })],
      ['retainMs', () => store.complete(ref, { retainMs: wrong })],
    ];
    if (store.purgeExpired) calls.push(['limit', () => store.purgeExpired?.({ limit: wrong })]);
    for (const [name, call] of calls) {
      const error = await call()?.catch((reason: unknown) => reason);
      expect(isWebhookError(error) && error.message).toBe(`invalid_option: ${name} must be a positive integer`);
    }
  }
}

function within(ms: number) {
  return (left: unknown) => typeof left === 'number' && left > 0 && left <= ms;
}
