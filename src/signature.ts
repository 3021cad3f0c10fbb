import { check, checkChoice, checkFunction, checkObject } from './check.js';
import { WebhookError } from './errors.js';
import { type HmacKey, hmacSync } from './hmac.js';
import { exactBytes, type HeaderSource, header } from './http.js';
import { type Secret, toKeys } from './secret.js';

/*
 * x-service-signature-v2: t=<unix seconds>,v1=<64 lowercase hex>      HMAC-SHA256(secret, t "." body)
 * x-service-signature:    sha256=<64 lowercase hex>                   HMAC-SHA256(secret, body)
 *
 * V2 (specification, section 6.2): elements separated by commas, no white space anywhere. `t` once; one to eight
 * `v1`, of which a malformed one is skipped; unknown elements are skipped, so that a future `v2=` breaks nobody.
 * The legacy header has no time in it, so whoever captured one delivery could send it for ever: it counts only where
 * there is no V2 header in any form and the receiver asked for it.
 */
const UNIX_SECONDS = /^(?:0|[1-9]\d{0,11})$/;
const MAC = /^[0-9a-f]{64}$/;

const DEFAULT_NAMES = namesUnder('x-service');

/** `v2` is signed with its time, `legacy` without one. */
export type Scheme = 'v2' | 'legacy';

/** How signature headers are read; all of it has defaults. */
export interface SignatureOptions {
  /** What the header names begin with; `x-service`. The vendor's own prefix in real life. */
  headerPrefix?: string | undefined;
  /**
   * What to do where only the legacy header came; `'reject'`. A legacy signature covers no time: with `'accept'` the
   * age is bounded by the envelope's own timestamp alone, so a captured delivery can be sent again for 5 h 19 m.
   */
  legacy?: 'reject' | 'accept' | undefined;
  /** Greatest distance of the signed time from now, in seconds, past and future; 300 (specification, section 6.2). */
  toleranceSeconds?: number | undefined;
  /** The clock, in milliseconds since the epoch; `Date.now`. Read for verification only. */
  now?: (() => number) | undefined;
}

/** Validated {@link SignatureOptions} with the defaults in place. */
export interface SignaturePolicy {
  readonly names: HeaderNames;
  readonly legacy: 'reject' | 'accept';
  readonly toleranceSeconds: number;
  readonly now: () => number;
}

/** Lower-case names of the service's own headers. */
export interface HeaderNames {
  readonly v2: string;
  readonly legacy: string;
  readonly webhookId: string;
  readonly attempt: string;
}

/** What a signature header holds: MACs of 64 lowercase hex digits, and the text that is signed before the body. */
export type Signature = {
  readonly candidates: readonly string[];
  readonly prefix: string;
} & (
  | {
      readonly scheme: 'v2';
      /** `t` in milliseconds. */
      readonly signedAt: number;
    }
  | {
      readonly scheme: 'legacy';
      readonly signedAt?: undefined;
      /** The clock when it was read, in milliseconds: the envelope's own time is held against it. */
      readonly readAt: number;
    }
);

/** @throws WebhookError `invalid_option` for anything that would weaken or disable the check */
export function signaturePolicy(options: SignatureOptions): SignaturePolicy {
  checkObject('options', options);
  const { headerPrefix, legacy = 'reject', toleranceSeconds = 300, now = Date.now } = options;
  checkChoice('legacy', legacy, ['reject', 'accept']);
  check(Number.isFinite(toleranceSeconds) && toleranceSeconds > 0, 'toleranceSeconds must be > 0');
  checkFunction('now', now);
  return { names: headerNames(headerPrefix), legacy, toleranceSeconds, now };
}

/**
 * Reads the signature header that counts and checks its time: everything that can be refused before the body is
 * read.
 *
 * @throws WebhookError `missing_signature`, `malformed_signature`, `legacy_not_accepted`, `timestamp_too_old`,
 *   `timestamp_in_future`
 */
export function readSignature(headers: HeaderSource, policy: SignaturePolicy): Signature {
  const v2 = header(headers, policy.names.v2);
  if (v2 !== undefined) return readV2(v2, policy);
  const legacy = header(headers, policy.names.legacy);
  if (legacy === undefined) {
    throw new WebhookError('missing_signature', 401, 'Check headerPrefix.');
  }
  if (policy.legacy !== 'accept') {
    throw new WebhookError('legacy_not_accepted', 401, 'Does a proxy drop V2?');
  }
  if (typeof legacy !== 'string' || !/^sha256=[0-9a-f]{64}$/.test(legacy)) throw malformed('legacy');
  return { scheme: 'legacy', candidates: [legacy.slice(7)], prefix: '', readAt: +policy.now() };
}

function readV2(value: string | readonly string[], policy: SignaturePolicy): Signature {
  const MAX_LENGTH = 4096;
  const MAX_ELEMENTS = 32;
  const MAX_V1 = 8;
  if (typeof value !== 'string' || value.length > MAX_LENGTH) throw malformed('twice or long');
  const candidates: string[] = [];
  let t: string | undefined;
  let elements = 0;
  let macs = 0;
  // By indices: to split the value first takes as long as a third of the HMAC.
  for (let start = 0, end: number; start <= value.length; start = end + 1) {
    end = value.indexOf(',', start);
    if (end < 0) end = value.length;
    elements += 1;
    if (value.startsWith('t=', start)) {
      t = t === undefined ? value.slice(start + 2, end) : ''; // twice is none
    } else if (value.startsWith('v1=', start)) {
      macs += 1;
      const mac = value.slice(start + 3, end);
      if (MAC.test(mac)) candidates.push(mac);
      else if (/\s/.test(mac)) throw malformed('elements');
    } else if (!/^[^\s=]*=\S*$/.test(value.slice(start, end))) throw malformed('elements');
  }
  if (elements > MAX_ELEMENTS || macs > MAX_V1) throw malformed('elements');
  if (!t || !UNIX_SECONDS.test(t)) throw malformed('t');
  if (candidates.length === 0) throw malformed('v1');
  const signedAt = +t * 1000;
  checkTime(signedAt, policy.now(), policy);
  return { scheme: 'v2', candidates, prefix: `${t}.`, signedAt };
}

/** The time that `sha256=` has not. @throws WebhookError `timestamp_too_old` for what no retry of the sender explains */
export function checkLegacyAge(timestamp: string, readAt: number, policy: SignaturePolicy): void {
  // No attempt comes later than this after the first: five waits and six answers of up to 20 s.
  const RETRY_HORIZON_SECONDS = 18_870;
  checkTime(Math.min(Date.parse(timestamp), readAt), readAt, policy, RETRY_HORIZON_SECONDS);
}

function checkTime(signedAt: number, now: number, { toleranceSeconds }: SignaturePolicy, morePast = 0): void {
  const age = Math.floor((now - signedAt) / 1000);
  if (age <= toleranceSeconds + morePast && -age <= toleranceSeconds) return;
  // Also where the clock gave NaN: what cannot be compared is refused.
  throw new WebhookError(
    age < 0 ? 'timestamp_in_future' : 'timestamp_too_old',
    401,
    'Wrong clock? Replay?',
    `${Math.abs(age)} s`,
  );
}

/** What {@link sign} signs, and how. */
export interface SignInput {
  /** The exact bytes of the body; text counts as its UTF-8. */
  body: Uint8Array | ArrayBuffer | string;
  secret: Secret;
  /** Signed time, in milliseconds since the epoch; now. */
  at?: number | undefined;
  /** Which headers; `'both'`, as the service sends. */
  scheme?: Scheme | 'both' | undefined;
  /** What the header names begin with; `x-service`. */
  headerPrefix?: string | undefined;
}

/**
 * The signature headers the service would send for a body (specification, section 6.2): for tests, and for whatever
 * speaks to a receiver in the service's place.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`, `body_already_parsed`; `sync_crypto_unavailable` where the
 *   runtime has no node:crypto.
 * @example
 * const body = JSON.stringify(event);
 * await fetch(url, { method: 'POST', headers: sign({ body, secret }), body });
 */
export function sign(input: SignInput): Record<string, string> {
  const { at = Date.now(), scheme = 'both' } = input;
  const t = `${Math.floor(at / 1000)}`;
  check(UNIX_SECONDS.test(t), 'at must be ms');
  checkChoice('scheme', scheme, ['v2', 'legacy', 'both']);
  const { v2, legacy } = headerNames(input.headerPrefix);
  const body = exactBytes(input.body);
  const headers: Record<string, string> = {};
  const [key] = toKeys(input.secret) as [HmacKey];
  if (scheme !== 'legacy') headers[v2] = `t=${t},v1=${hmacSync(key, `${t}.`, body)}`;
  if (scheme !== 'v2') headers[legacy] = `sha256=${hmacSync(key, '', body)}`;
  return headers;
}

function headerNames(prefix?: string): HeaderNames {
  if (prefix === undefined) return DEFAULT_NAMES;
  check(typeof prefix === 'string' && /^[a-z0-9]+(-[a-z0-9]+)*$/i.test(prefix), 'headerPrefix must be like x-service');
  return namesUnder(prefix.toLowerCase());
}

function namesUnder(prefix: string): HeaderNames {
  return {
    v2: `${prefix}-signature-v2`,
    legacy: `${prefix}-signature`,
    webhookId: `${prefix}-webhook-id`,
    attempt: `${prefix}-attempt`,
  };
}

function malformed(found: string): WebhookError {
  return new WebhookError('malformed_signature', 401, 'Does a proxy change it?', found);
}
