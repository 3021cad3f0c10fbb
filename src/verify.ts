import { WebhookError } from './errors.js';
import { parseEvent, type WebhookEvent } from './event.js';
import { equalMacs, type HmacKey, hmacAsync, hmacSync } from './hmac.js';
import { exactBytes, type HeaderSource, header, readHeaders } from './http.js';
import { type Secret, toKeys } from './secret.js';
import {
  checkLegacyAge,
  readSignature,
  type Scheme,
  type Signature,
  type SignatureOptions,
  type SignaturePolicy,
  signaturePolicy,
} from './signature.js';

/** What is verified, and with what. An option given as undefined is its default. */
export interface VerifyInput extends SignatureOptions {
  /** The headers of the request. */
  headers: HeaderSource;
  /** The exact bytes received (text counts as its UTF-8). A parsed object is refused. */
  body: Uint8Array | ArrayBuffer | string;
  /** The signing secret of the endpoint, or several while one replaces another: any of them may match. */
  secret: Secret | readonly Secret[];
}

/** One event on its way to this endpoint, with a signature that holds. */
export interface Delivery<E extends WebhookEvent = WebhookEvent> {
  event: E;
  /** The exact bytes that were signed. */
  body: Uint8Array;
  /** Which signature held. */
  scheme: Scheme;
  /** The signed time of this attempt, in milliseconds since the epoch; undefined for legacy. */
  signedAt: number | undefined;
  /** Which of the secrets matched, counted from 0: shows when a rotation is finished. */
  secretIndex: number;
  /** What headers say that no signature covers: anyone on the way can have changed it. Decide nothing by it. */
  unsigned: { idempotencyKey?: string | undefined; webhookId?: string | undefined; attempt?: number | undefined };
}

/** What {@link verifySignature} finds. */
export interface VerifiedSignature {
  scheme: Scheme;
  /** The signed time, in milliseconds since the epoch; undefined for legacy. */
  signedAt: number | undefined;
  /** Which of the secrets matched, counted from 0. */
  secretIndex: number;
}

/**
 * Verifies a delivery and gives its typed event: signature (specification, section 6.2), time, strict UTF-8, JSON,
 * envelope. Synchronous, on node:crypto.
 *
 * @throws WebhookError whose `code` says why the delivery is refused, or what is wrong with the call
 *   (`invalid_secret`, `invalid_option`, `body_already_parsed`, `sync_crypto_unavailable`).
 * @example
 * const { event } = verify({ headers: req.headers, body: rawBody, secret });
 * if (isEvent(event, 'generation.completed')) await download(event.data.downloadUrl);
 */
export function verify(input: VerifyInput): Delivery {
  const { policy, keys, headers, signature, body } = read(input);
  return toDelivery(headers, body, signature, matchingSecret(keys, signature, body), policy);
}

/**
 * {@link verify} on WebCrypto, for runtimes without node:crypto: the same verdict and the same codes on every input.
 *
 * @throws WebhookError (as a rejection), as {@link verify} does.
 * @example
 * const { event } = await verifyAsync({ headers: request.headers, body: await request.arrayBuffer(), secret });
 */
export async function verifyAsync(input: VerifyInput): Promise<Delivery> {
  const { policy, keys, headers, signature, body } = read(input);
  return toDelivery(headers, body, signature, await matchingSecretAsync(keys, signature, body), policy);
}

/**
 * Verifies signature and time only and does not look into the body, for bytes that are handed on as they are.
 * A legacy signature has no time to check: {@link verify} bounds its age by the envelope, this cannot.
 *
 * @throws WebhookError, as {@link verify} does, without the codes of the envelope.
 * @example
 * verifySignature({ headers, body, secret });
 * await queue.put(body);
 */
export function verifySignature(input: VerifyInput): VerifiedSignature {
  const { keys, signature, body } = read(input);
  const secretIndex = matchingSecret(keys, signature, body);
  return { scheme: signature.scheme, signedAt: signature.signedAt, secretIndex };
}

function read(input: VerifyInput) {
  const policy = signaturePolicy(input);
  const keys = toKeys(input.secret);
  const headers = readHeaders(input.headers);
  const body = exactBytes(input.body);
  return { policy, keys, headers, body, signature: readSignature(headers, policy) };
}

/** Index of the first key that made the signature. @throws WebhookError `signature_mismatch` */
export function matchingSecret(keys: readonly HmacKey[], signature: Signature, body: Uint8Array): number {
  const index = keys.findIndex((key) => holds(signature, hmacSync(key, signature.prefix, body)));
  if (index === -1) throw mismatch(keys.length);
  return index;
}

/** {@link matchingSecret} on WebCrypto. */
export async function matchingSecretAsync(
  keys: readonly HmacKey[],
  signature: Signature,
  body: Uint8Array,
): Promise<number> {
  for (const [index, key] of keys.entries()) {
    if (holds(signature, await hmacAsync(key, signature.prefix, body))) return index;
  }
  throw mismatch(keys.length);
}

function holds({ candidates }: Signature, mac: Uint8Array): boolean {
  return candidates.some((candidate) => equalMacs(candidate, mac));
}

/** The envelope of bytes whose signature held. @throws WebhookError as {@link parseEvent}, and for an old legacy one */
export function toDelivery(
  headers: HeaderSource,
  body: Uint8Array,
  { scheme, signedAt }: Signature,
  secretIndex: number,
  policy: SignaturePolicy,
): Delivery {
  const event = parseEvent(body);
  if (scheme === 'legacy') checkLegacyAge(event.timestamp, policy);
  return { event, body, scheme, signedAt, secretIndex, unsigned: unsignedHeaders(headers, policy) };
}

function unsignedHeaders(headers: HeaderSource, { names }: SignaturePolicy): Delivery['unsigned'] {
  const one = (name: string) => {
    const value = header(headers, name);
    return typeof value === 'string' ? value : undefined;
  };
  const attempt = one(names.attempt);
  return {
    idempotencyKey: one('idempotency-key'),
    webhookId: one(names.webhookId),
    attempt: attempt && /^[1-9]\d{0,8}$/.test(attempt) ? Number(attempt) : undefined,
  };
}

function mismatch(secrets: number): WebhookError {
  return new WebhookError(
    'signature_mismatch',
    'The secret of another endpoint? A body written again?',
    `${secrets} tried`,
  );
}
