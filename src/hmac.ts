import type { webcrypto } from 'node:crypto';
import { WebhookError } from './errors.js';
import { concat, exactBytes, utf8 } from './http.js';

/** Bytes of an HMAC key with what each crypto API made of them, prepared once and used for every delivery. */
export interface HmacKey {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The key, filled up with 0 and XORed for the inner and the outer hash, and room behind it. */
  blocks?: Buffer[];
  web?: Promise<webcrypto.CryptoKey>;
}

// Without an import and without a prefix, so that a bundle for the edge has no `node:` in it; synchronous where it is.
const node = (
  globalThis as { process?: { getBuiltinModule?: (id: string) => typeof import('node:crypto') | undefined } }
).process?.getBuiltinModule?.('crypto');

/** Whether {@link hmacSync} works here. */
export const hasSyncCrypto: boolean = node !== undefined;

/** Bytes of a body up to which two calls of `hash` are cheaper than an Hmac object. */
const SMALL = 16_384;

/** HMAC-SHA256 of `prefix` followed by `body`, through node:crypto, in lowercase hex. */
export function hmacSync(key: HmacKey, prefix: string, body: Uint8Array): string {
  if (node === undefined) {
    throw new WebhookError('sync_crypto_unavailable', 500, 'Use verifyAsync.');
  }
  if (!node.hash || body.length > SMALL || key.bytes.length > 64) {
    // As text: a Buffer made in native code costs a fifth of the whole HMAC of 1 KiB.
    return node.createHmac('sha256', key.bytes).update(prefix).update(body).digest('hex');
  }
  // By RFC 2104, of two hashes that are one call each: to make an Hmac object costs more than to hash so little. In
  // memory of our own: in Node's pool of Buffers others may find the key.
  key.blocks ??= [SMALL + 96, 96].map((size, i) => {
    return Buffer.alloc(
      size,
      new Uint8Array(64).map((_, at) => (i ? 0x5c : 0x36) ^ (key.bytes[at] as number)),
    );
  });
  const [inner, outer] = key.blocks as [Buffer, Buffer];
  const end = 64 + inner.write(prefix, 64);
  inner.set(body, end);
  outer.write(node.hash('sha256', inner.subarray(0, end + body.length), 'binary'), 64, 'binary');
  return node.hash('sha256', outer);
}

/** HMAC-SHA256 of `prefix` followed by `body`, through WebCrypto, in lowercase hex. */
export async function hmacAsync(key: HmacKey, prefix: string, body: Uint8Array): Promise<string> {
  key.web ??= crypto.subtle.importKey('raw', key.bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return hex(await crypto.subtle.sign('HMAC', await key.web, concat([exactBytes(prefix), body])));
}

// Room that is kept: two Buffers made anew cost a tenth of the HMAC of 300 B. 64 hex digits fill it, so nothing stays.
const left = new Uint8Array(64);
const right = new Uint8Array(64);

/** Whether two MACs of 64 hex digits are equal, in a time that does not depend on where they differ. */
export function equalMacs(a: string, b: string): boolean {
  if (a.length !== 64 || b.length !== 64) return false;
  utf8.encodeInto(a, left);
  utf8.encodeInto(b, right);
  if (node) return node.timingSafeEqual(left, right);
  return left.reduce((difference, byte, i) => difference | (byte ^ (right[i] as number)), 0) === 0;
}

/** SHA-256 in hex. All of it: a part that is cut out of a string keeps the whole of it in memory. */
export function fingerprint(input: Uint8Array | string): string | Promise<string> {
  return (
    node?.hash?.('sha256', input) ??
    crypto.subtle.digest('SHA-256', exactBytes(input) as Uint8Array<ArrayBuffer>).then(hex)
  );
}

function hex(bytes: ArrayBuffer): string {
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
