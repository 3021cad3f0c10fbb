import { WebhookError } from './errors.js';
import type { HmacKey } from './hmac.js';

/** The signing secret of an endpoint, as the service showed it: text as it is (UTF-8), or bytes. */
export type Secret = string | Uint8Array;

// Preparing a key costs as much as a small HMAC, and callers of `verify` pass the same few secrets for ever.
const prepared = new Map<string, HmacKey>();
const MAX_PREPARED = 100;

/**
 * Keys for one or more secrets. There is no length minimum: the service chooses its secrets.
 *
 * @throws WebhookError `invalid_secret` for none, an empty, a blank or a space-padded one
 */
export function toKeys(secrets: Secret | readonly Secret[]): HmacKey[] {
  const list = Array.isArray(secrets) ? (secrets as readonly Secret[]) : [secrets as Secret];
  if (list.length === 0) throw invalidSecret('none');
  return Array.from(list, toKey); // unlike map, it does not pass over holes
}

function toKey(secret: Secret): HmacKey {
  if (typeof secret === 'string') return prepared.get(secret) ?? prepare(secret);
  if (!(secret instanceof Uint8Array) || secret.length === 0) throw invalidSecret('not text or bytes');
  return { bytes: new Uint8Array(secret) }; // a copy: the caller may write over theirs
}

function prepare(secret: string): HmacKey {
  if (secret === '' || secret.trim() !== secret) throw invalidSecret('empty, blank or padded with white space');
  const key: HmacKey = { bytes: new TextEncoder().encode(secret) };
  if (prepared.size >= MAX_PREPARED) prepared.clear();
  prepared.set(secret, key);
  return key;
}

function invalidSecret(problem: string): WebhookError {
  return new WebhookError('invalid_secret', 'Is the environment variable set?', problem);
}
