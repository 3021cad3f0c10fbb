import { exactBytes } from '../bytes.js';
import { check, checkChoice, checkKnownOptions, checkObject } from '../option-checks.js';
import { headerNames } from './header-names.js';
import { type HmacKey, hmacSync } from './hmac.js';
import { type Secret, toKeys } from './secret.js';
import { isUnixSeconds, type Scheme } from './signature.js';

/** The input of {@link sign}. */
export interface SignInput {
  /** The exact bytes of the body; text is encoded as UTF-8. */
  body: Uint8Array | ArrayBuffer | string;
  /** The signing secret of the endpoint. */
  secret: Secret;
  /** The signed time, in milliseconds since the epoch, rounded down to the second. Default: now. */
  at?: number | undefined;
  /** The signatures to return. Default: `'both'`, as the service sends. */
  scheme?: Scheme | 'both' | undefined;
  /** The prefix of the service's own header names. Default: `'x-service'`. */
  headerPrefix?: string | undefined;
}

const OPTIONS = ['body', 'secret', 'at', 'scheme', 'headerPrefix'] as const satisfies readonly (keyof SignInput)[];

/**
 * Returns the signature headers that the service would send for a body: for tests, and for programs that send
 * deliveries in place of the service.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`, `body_already_parsed`; `sync_crypto_unavailable` where the
 *   runtime has no node:crypto.
 * @example
 * const body = JSON.stringify(event);
 * await fetch(url, { method: 'POST', headers: sign({ body, secret }), body });
 */
export function sign(input: SignInput): Record<string, string> {
  checkObject('the argument of sign()', input);
  checkKnownOptions('sign()', input, OPTIONS);
  const { at = Date.now(), scheme = 'both' } = input;
  const t = String(Math.floor(at / 1000));
  check(isUnixSeconds(t), 'at must be milliseconds since the epoch');
  checkChoice('scheme', scheme, ['v2', 'legacy', 'both']);
  const names = headerNames(input.headerPrefix);
  const body = exactBytes(input.body);
  const [key] = toKeys(input.secret) as [HmacKey];
  const headers: Record<string, string> = {};
  if (scheme !== 'legacy') headers[names.v2] = `t=${t},v1=${hmacSync(key, `${t}.`, body)}`;
  if (scheme !== 'v2') headers[names.legacy] = `sha256=${hmacSync(key, '', body)}`;
  return headers;
}
