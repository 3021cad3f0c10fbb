import { exactBytes, hexOf } from '../bytes.js';
import { WebhookError } from '../errors.js';
import { dotEnvHint } from './dot-env.js';
import type { HmacKey } from './hmac.js';

/** The signing secret of an endpoint, exactly as the service showed it: text (UTF-8) or bytes. */
export type Secret = string | Uint8Array;

// `verify` is called with the same secrets repeatedly, and preparing a key is expensive.
const preparedKeys = new Map<string, HmacKey>();
const MAX_PREPARED = 100;

/**
 * Returns the keys of one or more secrets. There is no minimum length: the service chooses its secrets. `name` is that
 * of the option in messages.
 *
 * @throws WebhookError `invalid_secret`, which says what is wrong with the secret, never what it is
 */
export function toKeys(secrets: Secret | readonly Secret[], name = 'secret'): HmacKey[] {
  if (!Array.isArray(secrets)) return [toKey(secrets as Secret, name)];
  if (secrets.length === 0) throw new WebhookError('invalid_secret', { message: `${name} is an empty list.` });
  // Not `map`, which leaves out the holes of an array.
  return Array.from(secrets, (secret: Secret, index) => toKey(secret, `${name}[${index}]`));
}

/** HMAC pads a key with zeros up to this length, and hashes a longer one. */
const BLOCK_BYTES = 64;

/** Returns a text that two keys share if they differ only in the zeros with which HMAC pads a short key. */
export function hexOfKey({ bytes }: HmacKey): string {
  return hexOf(bytes).padEnd(2 * BLOCK_BYTES, '0');
}

function toKey(secret: Secret, name: string): HmacKey {
  const prepared = typeof secret === 'string' ? preparedKeys.get(secret) : undefined;
  if (prepared) return prepared;
  const fault = faultOf(secret);
  if (fault) {
    const hint = fault.hint === SET_THE_VARIABLE ? (dotEnvHint() ?? fault.hint) : fault.hint;
    throw new WebhookError('invalid_secret', { message: `${name} ${fault.problem}.`, hint });
  }
  const key: HmacKey = { bytes: new Uint8Array(exactBytes(secret)) }; // a copy: the caller may overwrite its own bytes
  if (typeof secret === 'string') {
    if (preparedKeys.size >= MAX_PREPARED) preparedKeys.clear();
    preparedKeys.set(secret, key);
  }
  return key;
}

interface Fault {
  /** The end of a sentence that begins with the name of the option. */
  problem: string;
  hint?: string;
}

const SET_THE_VARIABLE =
  'Check that the environment variable it comes from, such as WEBHOOK_SECRET, is set for this process.';

function faultOf(secret: unknown): Fault | undefined {
  if (typeof secret === 'string') return faultOfText(secret);
  if (secret === undefined || secret === null) return { problem: `is ${secret}`, hint: SET_THE_VARIABLE };
  if (!(secret instanceof Uint8Array)) return { problem: `is neither text nor bytes, but of type ${typeof secret}` };
  const bytes = exactBytes(secret);
  // HMAC pads a key with zeros, so this one equals the empty key, which everyone has.
  if (bytes.every((byte) => byte === 0)) return { problem: bytes.length === 0 ? 'is empty' : 'has only zero bytes' };
  return isText(bytes) ? faultOfText(new TextDecoder().decode(bytes)) : undefined;
}

/** Returns whether bytes are encoded text: random bytes may begin or end with a byte that is white space. */
function isText(bytes: Uint8Array): boolean {
  return bytes.every((byte) => (byte >= 0x20 && byte < 0x7f) || [0x00, 0x09, 0x0a, 0x0d].includes(byte));
}

function faultOfText(text: string): Fault | undefined {
  if (text === '') return { problem: 'is empty', hint: SET_THE_VARIABLE };
  if (text === 'undefined' || text === 'null') return { problem: `is the text '${text}'`, hint: SET_THE_VARIABLE };
  if (INVISIBLE.test(text)) return { problem: 'is blank', hint: SET_THE_VARIABLE };
  const [first = '', last = ''] = [text.at(0), text.at(-1)];
  if (INVISIBLE.test(first)) return { problem: `begins with ${nameOf(first)}`, hint: 'Trim it.' };
  if (INVISIBLE.test(last)) return { problem: `ends with ${nameOf(last)}`, hint: 'Trim it.' };
  if (/^(["'`]).*\1$/s.test(text)) return { problem: 'is in quotes', hint: 'Remove the quotes.' };
  return undefined;
}

/** White space, control characters such as NUL, and format characters such as a byte order mark. */
const INVISIBLE = /^[\s\p{Cc}\p{Cf}]+$/u;
const NAMES: Record<string, string> = { ' ': 'a space', '\n': 'a line feed', '\r': 'a carriage return', '\t': 'a tab' };

function nameOf(invisible: string): string {
  return NAMES[invisible] ?? 'an invisible character';
}
