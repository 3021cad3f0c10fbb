import { check } from './option-checks.js';
import { fingerprint } from './verify/hmac.js';
import type { Delivery } from './verify/verify.js';

/** Visible ASCII characters without a colon, which ends a name in a key. */
const NAME = /^[!-9;-~]{1,64}$/;

/**
 * Checks the name of an endpoint, which is part of every key. `subject` is the beginning of the message.
 *
 * @throws WebhookError `invalid_option`
 */
export function checkEndpointName(name: unknown, subject: string): asserts name is string {
  const isName = typeof name === 'string' && NAME.test(name);
  check(isName, `${subject} 1 to 64 visible ASCII characters without a colon`);
}

/** How long a handled event is remembered unless the user says otherwise, in milliseconds: 72 hours. */
export const RETAIN_MS = 72 * 3_600_000;
/** The shortest time for which a handled event may be remembered, in milliseconds: 6 hours, longer than the retries. */
export const MIN_RETAIN_MS = 6 * 3_600_000;

/** @throws WebhookError `invalid_option` for a time that the service's retries outlast */
export function checkRetention(option: string, retainMs: number): void {
  check(retainMs >= MIN_RETAIN_MS, `${option} must be at least ${MIN_RETAIN_MS} (6 hours)`);
}

/**
 * What identifies an event at its endpoint: its id, its Idempotency-Key (the id where there is none), or what a function
 * of the user returns. Deliveries with equal identities are deliveries of one event.
 */
export type IdentityKey = 'event-id' | 'idempotency-key' | ((delivery: Delivery) => string);

/**
 * Returns the key of a delivery in stores and queues: the name of the endpoint, the tenant and the identity of the event.
 *
 * @throws WebhookError `invalid_option` where a key function of the user returns no text
 */
export function deliveryKey(
  delivery: Delivery,
  { name, key }: { name: string; key: IdentityKey },
): string | Promise<string> {
  const identity = identityOf(delivery, key);
  check(typeof identity === 'string' && identity !== '', 'dedupe.key must return a string that is not empty');
  return endpointKey(name, identity, delivery.tenant);
}

function identityOf(delivery: Delivery, key: IdentityKey): string {
  if (typeof key === 'function') return key(delivery);
  const header = key === 'idempotency-key' ? idempotencyKey(delivery) : undefined;
  return header === undefined ? delivery.event.id : `key:${header}`;
}

const IDEMPOTENCY_KEY = /^"?([!#-~]{1,255})"?$/;

/** Returns the Idempotency-Key without its quotes; undefined where it is not one value of visible ASCII. */
export function idempotencyKey({ unsigned }: Delivery): string | undefined {
  return IDEMPOTENCY_KEY.exec(unsigned.idempotencyKey ?? '')?.[1];
}

const DIRECT = /^[!-~]{1,120}$/;
/** The beginnings that mark other forms of a key. */
const RESERVED = /^(sha256:|tenant=|job=)/;

/**
 * Returns the key of an identity at an endpoint: of an event in a store, an inbox or a queue, or of a job whose events a
 * queue keeps in order.
 *
 * A long or unusual identity or tenant is hashed, so that it works on every store. It is hashed as JSON, because UTF-8
 * has no bytes for a lone surrogate, and because the JSON of a list equals no JSON of a text.
 */
export function endpointKey(name: string, identity: string, tenant: string | undefined): string | Promise<string> {
  const parts = tenant === undefined ? identity : [tenant, identity];
  const direct = tenant === undefined ? identity : `tenant=${tenant}:${identity}`;
  const isPlain = tenant === undefined ? !RESERVED.test(identity) : NAME.test(tenant);
  if (isPlain && DIRECT.test(direct)) return `${name}:${direct}`;
  const hash = fingerprint(JSON.stringify(parts));
  return typeof hash === 'string' ? `${name}:sha256:${hash}` : hash.then((hex) => `${name}:sha256:${hex}`);
}

const PURPOSE = /^[!-9;-~]{1,54}$/;

/**
 * Resolves to the `keyFor` of an event's context. The key begins with that of the event at its endpoint, or at `webhook` where
 * the endpoint has no name.
 */
export async function purposeKeys(
  { event, tenant }: Pick<Delivery, 'event' | 'tenant'>,
  endpoint = 'webhook',
): Promise<(purpose: string) => string> {
  const eventKey = await endpointKey(endpoint, event.id, tenant);
  return (purpose) => {
    const isPurpose = typeof purpose === 'string' && PURPOSE.test(purpose);
    check(isPurpose, 'keyFor() takes a purpose of 1 to 54 visible ASCII characters without a colon');
    return `${eventKey}:${purpose}`;
  };
}

/** Returns the key of the events of one type that are about a job. No identity of an event has such a key. */
export async function jobRunKey(name: string, { event, tenant }: Delivery): Promise<string> {
  return `${name}:job=${await fingerprint(JSON.stringify([tenant ?? null, event.jobId, event.type]))}`;
}

/** Returns the name of the endpoint from a key; undefined where it has none. */
export function endpointOf(key: string): string | undefined {
  const [name = ''] = key.split(':', 1);
  return NAME.test(name) && name !== key ? name : undefined;
}
