import type { KeyObject, webcrypto } from 'node:crypto';
import { concat, hexOf, utf8 } from '../bytes.js';
import { WebhookError } from '../errors.js';

/** An HMAC key. Each crypto API prepares its own form of the key at the first use and keeps it. */
export interface HmacKey {
  readonly bytes: Uint8Array<ArrayBuffer>;
  node?: KeyObject;
  web?: Promise<webcrypto.CryptoKey>;
}

// Without an import and without a prefix, so that an edge bundle contains no `node:`.
const node = (
  globalThis as { process?: { getBuiltinModule?: (id: string) => typeof import('node:crypto') | undefined } }
).process?.getBuiltinModule?.('crypto');

/** Whether {@link hmacSync} works in this runtime. */
export const hasSyncCrypto: boolean = node !== undefined;

/**
 * Returns the HMAC-SHA256 of `prefix` followed by `body`, through node:crypto. MACs are lower-case hex digits, as they are
 * in a header.
 *
 * @throws WebhookError `sync_crypto_unavailable` where there is no node:crypto
 */
export function hmacSync(key: HmacKey, prefix: string, body: Uint8Array): string {
  if (node === undefined) throw new WebhookError('sync_crypto_unavailable');
  key.node ??= node.createSecretKey(key.bytes);
  return node.createHmac('sha256', key.node).update(prefix).update(body).digest('hex');
}

/** Returns the HMAC-SHA256 of `prefix` followed by `body`, through WebCrypto. */
export async function hmacAsync(key: HmacKey, prefix: string, body: Uint8Array): Promise<string> {
  key.web ??= crypto.subtle.importKey('raw', key.bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  const signed = concat([utf8.encode(prefix), body]); // a copy, before the first await
  return hexOf(new Uint8Array(await crypto.subtle.sign('HMAC', await key.web, signed)));
}

/** Returns whether two MACs are equal, in a time that does not depend on where they differ. */
export function equalMacs(a: string, b: string): boolean {
  const HEX_DIGITS = 64;
  const [one, other] = [utf8.encode(a), utf8.encode(b)];
  if (one.length !== HEX_DIGITS || other.length !== HEX_DIGITS) return false;
  if (node) return node.timingSafeEqual(one, other);
  return one.reduce((difference, byte, i) => difference | (byte ^ (other[i] as number)), 0) === 0;
}

/** Returns the SHA-256 in hex. */
export function fingerprint(input: Uint8Array | string): string | Promise<string> {
  if (node?.hash) return node.hash('sha256', input);
  const bytes = typeof input === 'string' ? utf8.encode(input) : new Uint8Array(input);
  return crypto.subtle.digest('SHA-256', bytes).then((digest) => hexOf(new Uint8Array(digest)));
}
