import { WebhookError } from './errors.js';
import type { HmacKey } from './hmac.js';
import { exactBytes } from './http.js';

/** The signing secret of an endpoint, as the service showed it: text as it is (UTF-8), or bytes. */
export type Secret = string | Uint8Array;

// Preparing a key costs as much as a small HMAC, and callers of `verify` pass the same few secrets for ever.
const prepared = new Map<string, HmacKey>();

/**
 * Keys for one or more secrets. There is no length minimum: the service chooses its secrets.
 *
 * @throws WebhookError `invalid_secret` for none, an empty, a blank or a space-padded one
 */
export function toKeys(secrets: Secret | readonly Secret[]): HmacKey[] {
  const list = Array.isArray(secrets) ? (secrets as readonly Secret[]) : [secrets as Secret];
  if (list.length === 0) throw invalidSecret();
  return [...list].map(toKey); // spread, since map alone passes over holes
}

function toKey(secret: Secret): HmacKey {
  const known = prepared.get(secret as string);
  if (known !== undefined) return known;
  const isText = typeof secret === 'string';
  if (isText ? secret.trim() !== secret : !(secret instanceof Uint8Array)) throw invalidSecret();
  if (secret.length === 0) throw invalidSecret();
  const key: HmacKey = { bytes: new Uint8Array(exactBytes(secret)) }; // a copy: the caller may write over theirs
  if (isText) {
    const MAX_PREPARED = 100;
    if (prepared.size >= MAX_PREPARED) prepared.clear();
    prepared.set(secret, key);
  }
  return key;
}

function invalidSecret(): WebhookError {
  return new WebhookError('invalid_secret', 500, 'Is it set? No spaces?');
}
