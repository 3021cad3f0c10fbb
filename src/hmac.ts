import type { KeyObject, webcrypto } from 'node:crypto';
import { WebhookError } from './errors.js';
import { concat, exactBytes } from './http.js';

/** Bytes of an HMAC key with what each crypto API made of them, prepared once and used for every delivery. */
export interface HmacKey {
  readonly bytes: Uint8Array<ArrayBuffer>;
  node?: KeyObject;
  web?: Promise<webcrypto.CryptoKey>;
}

// Without an import, so that a bundle for the edge has no `node:` in it, and synchronous where it exists.
const node = (
  globalThis as { process?: { getBuiltinModule?: (id: string) => typeof import('node:crypto') | undefined } }
).process?.getBuiltinModule?.('node:crypto');

/** Whether {@link hmacSync} works here. */
export const hasSyncCrypto: boolean = node !== undefined;

/** HMAC-SHA256 of `prefix` followed by `body`, through node:crypto. */
export function hmacSync(key: HmacKey, prefix: string, body: Uint8Array): Buffer {
  if (node === undefined) {
    throw new WebhookError('sync_crypto_unavailable', 'Use verifyAsync.');
  }
  key.node ??= node.createSecretKey(key.bytes);
  return node.createHmac('sha256', key.node).update(prefix).update(body).digest();
}

/** HMAC-SHA256 of `prefix` followed by `body`, through WebCrypto. */
export async function hmacAsync(key: HmacKey, prefix: string, body: Uint8Array): Promise<Uint8Array> {
  key.web ??= crypto.subtle.importKey('raw', key.bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  const content = concat([exactBytes(prefix), body]);
  return new Uint8Array(await crypto.subtle.sign('HMAC', await key.web, content));
}

/** Whether two MACs of 32 bytes are equal, in a time that does not depend on where they differ. */
export function equalMacs(a: Uint8Array, b: Uint8Array): boolean {
  if (node !== undefined) return node.timingSafeEqual(a, b);
  return a.reduce((difference, byte, i) => difference | (byte ^ (b[i] as number)), 0) === 0;
}

/** The first 132 bits of SHA-256, base64url: 22 characters that tell two inputs apart. */
export async function fingerprint(input: Uint8Array | string): Promise<string> {
  const bytes = new Uint8Array(exactBytes(input));
  const digest = node?.createHash('sha256').update(bytes).digest() ?? (await crypto.subtle.digest('SHA-256', bytes));
  return base64url(new Uint8Array(digest)).slice(0, 22);
}

/** 128 random bits, base64url. */
export function randomToken(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(16)));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
