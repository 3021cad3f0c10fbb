import { check } from '../option-checks.js';
import { fingerprint } from '../verify/hmac.js';
import type { Delivery } from '../verify/verify.js';
import type { DedupeSettings } from './options.js';

const DIRECT = /^[!-~]{1,120}$/;
const IDEMPOTENCY_KEY = /^"?([!#-~]{1,255})"?$/;

/**
 * Returns the key under which a store remembers an event: the endpoint's name and the identity of the event.
 *
 * @throws WebhookError `invalid_option` where a key function of the user returns no text
 */
export async function dedupeKey(
  delivery: Delivery,
  { name, key }: Pick<DedupeSettings, 'name' | 'key'>,
): Promise<string> {
  const identity = identityOf(delivery, key);
  check(typeof identity === 'string' && identity !== '', 'dedupe.key must return a string that is not empty');
  if (DIRECT.test(identity)) return `${name}:${identity}`;
  // A long identity, or one with characters outside of visible ASCII, is hashed, so that it works on every store. It is
  // hashed as JSON, because UTF-8 has no bytes for a lone surrogate.
  return `${name}:sha256:${await fingerprint(JSON.stringify(identity))}`;
}

function identityOf(delivery: Delivery, key: DedupeSettings['key']): string {
  if (typeof key === 'function') return key(delivery);
  const header = key === 'idempotency-key' ? idempotencyKey(delivery) : undefined;
  return header === undefined ? delivery.event.id : `key:${header}`;
}

/** Returns the Idempotency-Key without its quotes; undefined where it is not one value of visible ASCII. */
export function idempotencyKey({ unsigned }: Delivery): string | undefined {
  return IDEMPOTENCY_KEY.exec(unsigned.idempotencyKey ?? '')?.[1];
}
