import { exactBytes } from '../bytes.js';
import { ERRORS, isWebhookError, WebhookError } from '../errors.js';
import { type AnyEvent, parseEvent, type WebhookEvent } from '../event.js';
import { checkKnownOptions } from '../option-checks.js';
import { type HeaderSource, type ReadHeaders, readHeaders } from './headers.js';
import { equalMacs, type HmacKey, hmacAsync, hmacSync } from './hmac.js';
import { SIGNATURE_OPTIONS, type SignatureOptions, type SignaturePolicy, signaturePolicy } from './policy.js';
import { type Secret, toKeys } from './secret.js';
import { readSignature, type Scheme, type Signature } from './signature.js';
import { checkLegacyAge } from './signed-time.js';
import { type UnsignedHeaders, unsignedHeaders } from './unsigned.js';

/** The input of {@link verify}. An option given as undefined has its default. */
export interface VerifyInput extends SignatureOptions {
  /** The headers of the request. */
  headers: HeaderSource;
  /** The exact bytes received; text is encoded as UTF-8. A parsed object is refused. */
  body: Uint8Array | ArrayBuffer | string;
  /** The signing secret of the endpoint, or several during a rotation: any of them may match. */
  secret: Secret | readonly Secret[];
}

/** The last three have no effect: a request may be spread into the input. */
const OPTIONS = ['headers', 'body', 'secret', ...SIGNATURE_OPTIONS, 'method', 'url', 'signal'];

/** One event on its way to this endpoint. */
export interface Delivery<E extends AnyEvent = WebhookEvent> {
  event: E;
  /** The exact bytes that were signed. */
  body: Uint8Array;
  /** The scheme of the valid signature; `'reconciled'` for an event that `jobs.reconcile()` made, which has no signature. */
  scheme: Scheme | 'reconciled';
  /** The signed time of this attempt, in milliseconds since the epoch; undefined for legacy. */
  signedAt: number | undefined;
  /**
   * Which of the secrets matched, of the tenant's where there are tenants, counted from 0: see when a rotation is done. -1
   * for an event that `jobs.reconcile()` made.
   */
  secretIndex: number;
  /** The tenant whose secret matched, where `secret` of the receiver names tenants. */
  tenant?: string | undefined;
  /**
   * Headers that no signature covers: anyone between the service and you can change them. Do not base decisions on
   * them.
   */
  unsigned: UnsignedHeaders;
}

/** The result of {@link verifySignature}. */
export interface VerifiedSignature {
  scheme: Scheme;
  /** The signed time, in milliseconds since the epoch; undefined for legacy. */
  signedAt: number | undefined;
  /** Which of the secrets matched, counted from 0. */
  secretIndex: number;
}

/**
 * Verifies a delivery and returns its typed event: signature, time, strict UTF-8, JSON, envelope. Synchronous, through
 * node:crypto.
 *
 * @throws WebhookError whose `code` says why the delivery is refused, or what is wrong with the call
 *   (`invalid_secret`, `invalid_option`, `body_already_parsed`, `sync_crypto_unavailable`).
 * @example
 * const { event } = verify({ headers: req.headers, body: rawBody, secret });
 * if (isEvent(event, 'generation.completed')) await download(event.data.downloadUrl);
 */
export function verify(input: VerifyInput): Delivery {
  const signed = readInput(input);
  return toDelivery(signed, matchingSecret(signed));
}

/**
 * {@link verify} through WebCrypto, for runtimes without node:crypto: the same verdict and the same codes on every
 * input. The bytes are copied before the first await, so that later changes to them have no effect.
 *
 * @throws WebhookError (as a rejection), as {@link verify} does.
 * @example
 * const { event } = await verifyAsync({ headers: request.headers, body: await request.arrayBuffer(), secret });
 */
export async function verifyAsync(input: VerifyInput): Promise<Delivery> {
  const signed = readInput(input);
  const copy = { ...signed, body: signed.body.slice() };
  return toDelivery(copy, await matchingSecretAsync(copy));
}

/**
 * Verifies signature and time only and does not parse the body, for bytes that are passed on unchanged. A legacy
 * signature has no time to check: {@link verify} limits its age by the envelope, this function cannot.
 *
 * With `legacy: 'accept'`, anyone who has captured a delivery can send its V2 signature as the legacy signature of
 * another body: the signed time, a dot and the captured body. This function accepts it, at any age. {@link verify} and a
 * receiver refuse it, because such a body is not JSON. So parse the body with {@link parseEvent} before you use it, or
 * pass it only to a process that verifies it.
 *
 * @throws WebhookError, as {@link verify} does, without the codes of the envelope.
 * @example
 * verifySignature({ headers, body, secret });
 * await fetch(url, { method: 'POST', headers, body }); // to a process that verifies the event itself
 */
export function verifySignature(input: VerifyInput): VerifiedSignature {
  const signed = readInput(input);
  const { scheme, signedAt } = signed.signature;
  return { scheme, signedAt, secretIndex: matchingSecret(signed) };
}

/** A request whose header was read and is in time, with everything that checking the signature needs. */
export interface SignedRequest {
  readonly policy: SignaturePolicy;
  readonly keys: readonly HmacKey[];
  readonly headers: ReadHeaders;
  readonly body: Uint8Array;
  readonly signature: Signature;
}

function readInput(input: VerifyInput): SignedRequest {
  checkInput(input);
  try {
    const policy = signaturePolicy(input);
    const keys = toKeys(input.secret);
    const headers = readHeaders(input.headers, policy.names);
    const body = exactBytes(input.body);
    return { policy, keys, headers, body, signature: readSignature(headers, policy) };
  } catch (thrown) {
    if (isWebhookError(thrown)) throw thrown;
    throw new WebhookError('invalid_option', {
      message: 'An option threw while it was read: a getter, an iterator or the clock.',
      hint: 'Fix error.cause.',
      cause: thrown,
    });
  }
}

function checkInput(input: VerifyInput): void {
  const isOptions = typeof input === 'object' && input !== null && !Array.isArray(input) && !ArrayBuffer.isView(input);
  if (!isOptions) {
    throw new WebhookError('invalid_option', {
      message: 'verify takes one object.',
      hint: 'Call verify({ headers, body, secret }).',
    });
  }
  checkKnownOptions('verify', input, OPTIONS, { tolerance: 'toleranceSeconds', prefix: 'headerPrefix' });
  if (input.body === undefined || input.body === null) {
    throw new WebhookError('body_already_parsed', { message: `body is ${input.body}.` });
  }
}

/**
 * Returns the index of the first secret whose signature matches.
 *
 * @throws WebhookError `signature_mismatch`
 */
export function matchingSecret({ keys, signature, body }: SignedRequest): number {
  const { prefix, candidates } = signature;
  for (const [index, key] of keys.entries()) {
    const mac = hmacSync(key, prefix, body);
    if (candidates.some((candidate) => equalMacs(candidate, mac))) return index;
  }
  throw mismatch(keys.length);
}

/** {@link matchingSecret} through WebCrypto. The caller makes sure that nothing changes the body meanwhile. */
export async function matchingSecretAsync({ keys, signature, body }: SignedRequest): Promise<number> {
  const { prefix, candidates } = signature;
  for (const [index, key] of keys.entries()) {
    const mac = await hmacAsync(key, prefix, body);
    if (candidates.some((candidate) => equalMacs(candidate, mac))) return index;
  }
  throw mismatch(keys.length);
}

function mismatch(tried: number): WebhookError {
  const { message } = ERRORS.signature_mismatch;
  return new WebhookError(
    'signature_mismatch',
    tried === 1 ? {} : { message: `${message} ${tried} secrets were tried.` },
  );
}

/**
 * Returns the delivery of a request whose signature is valid.
 *
 * @throws WebhookError as {@link parseEvent} does; `timestamp_too_old` for a legacy delivery
 */
export function toDelivery({ policy, headers, body, signature }: SignedRequest, secretIndex: number): Delivery {
  const { scheme, signedAt, readAt } = signature;
  const event = parseEvent(body);
  if (scheme === 'legacy') checkLegacyAge(event.timestamp, readAt, policy);
  return { event, body, scheme, signedAt, secretIndex, unsigned: unsignedHeaders(headers) };
}
