import { failureOf, isWebhookError, WebhookError } from './errors.js';
import { parseEvent, type WebhookEvent } from './event.js';
import { equalMacs, type HmacKey, hmacAsync, hmacSync } from './hmac.js';
import { exactBytes, type HeaderSource, oneValue, readHeaders } from './http.js';
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
  const signed = read(input);
  return toDelivery(signed, matchingSecret(signed));
}

/**
 * {@link verify} on WebCrypto, for runtimes without node:crypto: the same verdict and the same codes on every input.
 *
 * @throws WebhookError (as a rejection), as {@link verify} does.
 * @example
 * const { event } = await verifyAsync({ headers: request.headers, body: await request.arrayBuffer(), secret });
 */
export async function verifyAsync(input: VerifyInput): Promise<Delivery> {
  const signed = read(input);
  return toDelivery(signed, await matchingSecretAsync(signed));
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
  const signed = read(input);
  const { scheme, signedAt } = signed.signature;
  return { scheme, signedAt, secretIndex: matchingSecret(signed) };
}

/** All that decides whether a signature holds, and what is made of it then. */
export interface Signed {
  readonly policy: SignaturePolicy;
  readonly keys: readonly HmacKey[];
  readonly headers: HeaderSource;
  readonly body: Uint8Array;
  readonly signature: Signature;
}

function read(input: VerifyInput): Signed {
  try {
    const policy = signaturePolicy(input);
    const keys = toKeys(input.secret);
    const headers = readHeaders(input.headers);
    const body = exactBytes(input.body);
    return { policy, keys, headers, body, signature: readSignature(headers, policy) };
  } catch (thrown) {
    // By what is the caller's own: a getter, an iterator, a clock.
    throw isWebhookError(thrown) ? thrown : failureOf('invalid_option', 500, thrown);
  }
}

/** Index of the first key that made the signature. @throws WebhookError `signature_mismatch` */
export function matchingSecret({ keys, signature, body }: Signed): number {
  for (const [index, key] of keys.entries()) {
    if (holds(signature, hmacSync(key, signature.prefix, body))) return index;
  }
  throw mismatch(keys);
}

/** {@link matchingSecret} on WebCrypto. */
export async function matchingSecretAsync({ keys, signature, body }: Signed): Promise<number> {
  for (const [index, key] of keys.entries()) {
    if (holds(signature, await hmacAsync(key, signature.prefix, body))) return index;
  }
  throw mismatch(keys);
}

function holds({ candidates }: Signature, mac: string): boolean {
  return candidates.some((candidate) => equalMacs(candidate, mac));
}

/** The envelope of bytes whose signature held. @throws WebhookError as {@link parseEvent}, and for an old legacy one */
export function toDelivery({ policy, headers, body, signature }: Signed, secretIndex: number): Delivery {
  const { scheme, signedAt } = signature;
  const event = parseEvent(body);
  if (signature.scheme === 'legacy') checkLegacyAge(event.timestamp, signature.readAt, policy);
  const { names } = policy;
  const attempt = oneValue(headers, names.attempt);
  return {
    event,
    body,
    scheme,
    signedAt,
    secretIndex,
    unsigned: {
      idempotencyKey: oneValue(headers, 'idempotency-key'),
      webhookId: oneValue(headers, names.webhookId),
      attempt: /^[1-9]\d{0,8}$/.test(attempt ?? '') ? Number(attempt) : undefined,
    },
  };
}

function mismatch({ length }: readonly HmacKey[]): WebhookError {
  return new WebhookError('signature_mismatch', 401, 'Wrong secret? Changed body?', `${length} tried`);
}
