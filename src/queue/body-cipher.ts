import type { webcrypto } from 'node:crypto';
import { concat, fromBase64, utf8 } from '../bytes.js';
import { WebhookError } from '../errors.js';
import { check } from '../option-checks.js';
import { fingerprint } from '../verify/hmac.js';

/** 32 random bytes, or their base64: `openssl rand -base64 32`. */
export type EncryptionKey = string | Uint8Array;

/** Encrypts the bodies of jobs with AES-256-GCM. `context` is what must not change: a body opens with its own job alone. */
export interface BodyCipher {
  /** Encrypts with the first key, and resolves to the nonce and the ciphertext. */
  encrypt(body: Uint8Array, context: string): Promise<{ bytes: Uint8Array; keyId: string }>;
  /** Resolves to whether a key is there. */
  has(keyId: string): Promise<boolean>;
  /** @throws WebhookError `unreadable_job` for a key that is not there, `body_unavailable` for bytes that were changed */
  decrypt(bytes: Uint8Array, keyId: string, context: string): Promise<Uint8Array>;
}

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const ALGORITHM = 'AES-GCM';

/** A key in the forms that are used of it. */
interface PreparedKey {
  id: string;
  aes: webcrypto.CryptoKey;
}

/** @throws WebhookError `invalid_option` */
export function bodyCipher(encrypt: EncryptionKey | readonly EncryptionKey[] | undefined): BodyCipher {
  check(
    encrypt !== undefined,
    'encrypt is undefined: set the variable of its key, or leave encrypt out for bodies without encryption',
  );
  const given = Array.isArray(encrypt) ? (encrypt as readonly EncryptionKey[]) : [encrypt as EncryptionKey];
  check(given.length > 0, 'encrypt has no key');
  const keys = given.map(keyBytes);
  let preparing: Promise<PreparedKey[]> | undefined;

  async function find(keyId: string): Promise<PreparedKey | undefined> {
    return (await prepared()).find(({ id }) => id === keyId);
  }

  async function keyOf(keyId: string): Promise<PreparedKey> {
    const key = await find(keyId);
    if (key) return key;
    const message = `The body of the job is encrypted with the key ${keyId.slice(0, 16)}, which is not in encrypt.`;
    throw new WebhookError('unreadable_job', {
      message,
      hint: 'Pass this key too: the first one encrypts, all decrypt.',
    });
  }

  function prepared(): Promise<PreparedKey[]> {
    preparing ??= Promise.all(keys.map(prepare));
    return preparing;
  }

  return {
    async encrypt(body, context) {
      const [{ id: keyId, aes }] = (await prepared()) as [PreparedKey];
      const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
      const encrypted = await crypto.subtle.encrypt(parameters(nonce, context), aes, new Uint8Array(body));
      return { bytes: concat([nonce, new Uint8Array(encrypted)]), keyId };
    },

    has: async (keyId) => (await find(keyId)) !== undefined,

    async decrypt(bytes, keyId, context) {
      const { aes } = await keyOf(keyId);
      const [nonce, encrypted] = [bytes.slice(0, NONCE_BYTES), bytes.slice(NONCE_BYTES)];
      try {
        return new Uint8Array(await crypto.subtle.decrypt(parameters(nonce, context), aes, encrypted));
      } catch (cause) {
        const message = 'The body of the job cannot be decrypted: it, or the job, was changed.';
        const hint = 'Find out what else writes to the queue, and let the service send the event again.';
        throw new WebhookError('body_unavailable', { message, hint, cause });
      }
    },
  };
}

/** @throws WebhookError `invalid_option` */
function keyBytes(key: unknown): Uint8Array<ArrayBuffer> {
  const bytes = typeof key === 'string' ? decoded(key) : key;
  const isKey = bytes instanceof Uint8Array && bytes.length === KEY_BYTES && bytes.some((byte) => byte !== bytes[0]);
  const HOW = "'openssl rand -base64 32' makes one";
  check(isKey, `encrypt must be 32 random bytes or their base64, or a list of such keys: ${HOW}`);
  return new Uint8Array(bytes); // a copy, because the caller may change or clear its own
}

function decoded(text: string): Uint8Array | undefined {
  try {
    return fromBase64(text.trim());
  } catch {
    return undefined;
  }
}

async function prepare(bytes: Uint8Array<ArrayBuffer>): Promise<PreparedKey> {
  const aes = await crypto.subtle.importKey('raw', bytes, ALGORITHM, false, ['encrypt', 'decrypt']);
  // A part of the hash of a random key, which tells nothing about the key.
  const id = (await fingerprint(concat([utf8.encode('key id:'), bytes]))).slice(0, 16);
  return { id, aes };
}

function parameters(iv: Uint8Array<ArrayBuffer>, context: string) {
  return { name: ALGORITHM, iv, additionalData: utf8.encode(context) };
}
