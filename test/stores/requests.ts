import type { ClaimRequest, Delivery } from 'service-webhooks';
import { expect, it } from 'vitest';
import { anEvent, refusal } from '../support/deliveries.js';

/** A claim of an owner of its own, for a minute of work and an hour of memory, except for what is changed. */
export function aClaim(key = `default:evt_${crypto.randomUUID()}`, changes: Partial<ClaimRequest> = {}): ClaimRequest {
  const token = crypto.randomUUID();
  return { key, token, fingerprint: 'f', alias: 'a', leaseMs: 60_000, retainMs: 3_600_000, ...changes };
}

export const rivalOf = (claim: ClaimRequest): ClaimRequest => ({ ...claim, token: crypto.randomUUID() });

/** As much of a delivery as an inbox looks at. */
export const deliveryOf = (id: string) => ({ event: anEvent({ id }) }) as unknown as Pick<Delivery, 'event'>;

/** Whether what is left of a time is more than nothing, and no more than the whole. */
export const within = (ms: number) => (left: unknown) => typeof left === 'number' && left > 0 && left <= ms;

const named = 'name must be the name of the endpoint: 1 to 64 visible ASCII';

/** What no inbox takes, and what the error says of it. */
export const wrongInboxOptions = [
  [null, "needs the name of the endpoint: { name: 'clips' }"],
  ...['', 'a:b', 'üa', 'a'.repeat(65)].map((name) => [{ name }, named] as const),
  [{ name: 'clips', retainMs: 6 * 3_600_000 - 1 }, 'retainMs must be at least 21600000 (6 hours)'],
  [{ name: 'clips', retainMs: 0 }, 'retainMs must be a positive integer'],
  [{ name: 'clips', retainMs: Number.NaN }, 'retainMs must be a positive integer'],
  [{ name: 'clips', waitMs: 0 }, 'waitMs must be a positive integer'],
  [{ name: 'clips', waitMs: 1.5 }, 'waitMs must be a positive integer'],
] as const;

/** Tests that a store or an inbox is not made with these clients and options, and what the error says of them. */
export function itRefuses(
  make: (client: never, options: never) => unknown,
  cases: readonly (readonly [client: unknown, options: unknown, says: string])[],
): void {
  it.each(cases)('the client %j with the options %j is refused', (client, options, says) => {
    const { code, message, hint } = refusal(() => make(client as never, options as never));
    expect(code).toBe('invalid_option');
    expect(`${message} ${hint}`).toContain(says);
  });
}
