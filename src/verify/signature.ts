import { WebhookError } from '../errors.js';
import { type HeaderValue, headerNamesOf, type ReadHeaders } from './headers.js';
import type { SignaturePolicy } from './policy.js';
import { checkSignedTime } from './signed-time.js';

/*
 * x-service-signature-v2: t=<unix seconds>,v1=<64 lowercase hex digits>      HMAC-SHA256(secret, t "." body)
 * x-service-signature:    sha256=<64 hex digits>                             HMAC-SHA256(secret, body)
 *
 * V2 has elements separated by commas, without white space: `t` once, and one to eight `v1`, of which a malformed one
 * is skipped. Unknown elements are skipped, so that a future `v2=` does not break receivers. The legacy header has no
 * time, so a captured delivery could be replayed permanently: it counts only where the request has no V2 header in any
 * form and the receiver accepts legacy signatures.
 */
const MAX_LENGTH = 4096;
const MAX_ELEMENTS = 32;
const MAX_V1 = 8;
const UNIX_SECONDS = /^(?:0|[1-9]\d{0,11})$/;
const V1 = /^[0-9a-f]{64}$/;
const LEGACY = /^sha256=[0-9a-fA-F]{64}$/;

/** `v2` is signed with its time, `legacy` without one. */
export type Scheme = 'v2' | 'legacy';

/** The content of a signature header. */
export interface Signature {
  readonly scheme: Scheme;
  /** MACs of 64 lower-case hex digits: one of them must match. */
  readonly candidates: readonly string[];
  /** The text that is signed before the body. */
  readonly prefix: string;
  /** `t` in milliseconds; undefined for legacy. */
  readonly signedAt: number | undefined;
  /** The clock when the header was read, in milliseconds. */
  readonly readAt: number;
}

/** The form of `t`. */
export function isUnixSeconds(text: string): boolean {
  return UNIX_SECONDS.test(text);
}

/**
 * Reads the signature header that counts and checks its time: everything that can be refused before the body is read.
 *
 * @throws WebhookError `missing_signature`, `malformed_signature`, `legacy_not_accepted`, `timestamp_too_old`,
 *   `timestamp_in_future`
 */
export function readSignature(headers: ReadHeaders, policy: SignaturePolicy): Signature {
  const { v2, legacy } = headers;
  if (v2 !== undefined) return readV2(v2, policy);
  if (legacy === undefined) throw missing(headers, policy.names.v2);
  if (policy.legacy !== 'accept') throw new WebhookError('legacy_not_accepted');
  return readLegacy(legacy, policy);
}

function readV2(value: HeaderValue, policy: SignaturePolicy): Signature {
  const { v2 } = policy.names;
  if (typeof value !== 'string') throw malformed(v2, 'came more than once');
  if (value.length > MAX_LENGTH) throw malformed(v2, `is longer than ${MAX_LENGTH} characters`);
  if (/\s/.test(value)) throw malformed(v2, 'has white space');
  const elements = value.split(',', MAX_ELEMENTS + 1);
  if (elements.length > MAX_ELEMENTS) throw malformed(v2, `has more than ${MAX_ELEMENTS} elements`);
  const times: string[] = [];
  const macs: string[] = [];
  for (const element of elements) {
    const end = element.indexOf('=');
    if (end < 0) throw malformed(v2, 'has an element that is not name=value');
    const name = element.slice(0, end);
    if (name === 't') times.push(element.slice(end + 1));
    if (name === 'v1') macs.push(element.slice(end + 1));
  }
  const [t] = times;
  if (t === undefined || times.length > 1) throw malformed(v2, `has ${times.length} elements t=`);
  if (!isUnixSeconds(t)) throw malformed(v2, 'has a t= that is not Unix seconds');
  if (macs.length > MAX_V1) throw malformed(v2, `has more than ${MAX_V1} elements v1=`);
  const candidates = macs.filter((mac) => V1.test(mac));
  if (candidates.length === 0) throw malformed(v2, 'has no v1= of 64 lowercase hex digits');
  const signedAt = Number(t) * 1000;
  const readAt = +policy.now();
  checkSignedTime(signedAt, readAt, policy);
  return { scheme: 'v2', candidates, prefix: `${t}.`, signedAt, readAt };
}

function readLegacy(value: HeaderValue, { names, now }: SignaturePolicy): Signature {
  if (typeof value !== 'string') throw malformed(names.legacy, 'came more than once');
  if (!LEGACY.test(value)) throw malformed(names.legacy, 'is not sha256= and 64 hex digits');
  const mac = value.slice('sha256='.length).toLowerCase();
  return { scheme: 'legacy', candidates: [mac], prefix: '', signedAt: undefined, readAt: +now() };
}

function missing(headers: ReadHeaders, name: string): WebhookError {
  const MAX_HEADERS = 200;
  const similar = headerNamesOf(headers, MAX_HEADERS).filter((other) => /^[a-z0-9-]+-signature-v2$/.test(other));
  const found = similar.length === 0 ? '' : `, but it has ${similar.slice(0, 3).join(', ')}`;
  return new WebhookError('missing_signature', { message: `The request has no ${name} header${found}.` });
}

function malformed(name: string, fault: string): WebhookError {
  return new WebhookError('malformed_signature', { message: `The ${name} header ${fault}.` });
}
