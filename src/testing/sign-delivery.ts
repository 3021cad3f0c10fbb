import { exactBytes } from '../bytes.js';
import { type AnyEvent, isWebhookEvent } from '../event.js';
import { check, checkObject, checkPositiveInteger } from '../option-checks.js';
import type { Secret } from '../verify/secret.js';
import { sign } from '../verify/sign.js';
import type { Scheme } from '../verify/signature.js';
import { deliveryHeaders } from './delivery-headers.js';

/** How a delivery is signed, and the values of its headers. Every option but the secret has a default. */
export interface SigningOptions {
  secret: Secret;
  /** The signed time, in milliseconds since the epoch. Default: now. */
  at?: number | undefined;
  /** The signatures to send. Default: `'both'`, as the service sends. */
  scheme?: Scheme | 'both' | undefined;
  /** The number of the attempt, from 1. Default: 1. */
  attempt?: number | undefined;
  /** The id of the receiving endpoint. Default: `'endpoint_sample'`. */
  webhookId?: string | undefined;
  /**
   * The Idempotency-Key. Default: derived from the id of the event, or from the body, so that each attempt has the same
   * one.
   */
  idempotencyKey?: string | undefined;
  /** The prefix of the service's own header names. Default: `x-service`. */
  headerPrefix?: string | undefined;
}

/** The content of a delivery: an event, which is written as JSON, or the exact body. */
export type SignDeliveryInput = SigningOptions &
  ({ event: AnyEvent; body?: undefined } | { body: Uint8Array | ArrayBuffer | string; event?: undefined });

/** One request of a delivery. It can be passed to a receiver directly: `await receiver(delivery)`. */
export interface DeliveryRequest {
  method: string;
  headers: Record<string, string>;
  /** The exact bytes. */
  body: Uint8Array;
}

/**
 * A request as the service sends it. A spread has the properties of the request and leaves out `at` and `again`, as
 * `verify({ ...delivery, secret })` needs it.
 */
export interface SignedDelivery extends DeliveryRequest {
  /** The signed time, in milliseconds since the epoch. */
  at: number;
  /**
   * Returns the same delivery, signed again now or at `at`: `again({ attempt: 2 })` is the next attempt. Id,
   * `Idempotency-Key` and body stay the same.
   */
  again(changes?: Partial<SigningOptions>): SignedDelivery;
}

/**
 * Returns the headers and the exact bytes of a delivery as the service sends it.
 *
 * An `event` is written with spaces between its parts, so that it differs from the result of `JSON.stringify`: a
 * receiver that verifies `JSON.stringify(req.body)` fails in the test, as it would in production.
 *
 * @throws WebhookError `body_already_parsed` for a body that is an object, `invalid_secret`, `invalid_option`;
 *   `sync_crypto_unavailable` where the runtime has no node:crypto
 * @example
 * const delivery = signDelivery({ event: sampleEvent('stt.completed'), secret });
 * const { status } = await receiver(delivery);
 */
export function signDelivery(input: SignDeliveryInput): SignedDelivery {
  checkObject('input', input);
  const { event, body, ...options } = input;
  check((event === undefined) !== (body === undefined), 'event or body must be given, and not both');
  const bytes = event === undefined ? exactBytes(body, 'Give an object as event.') : write(event);
  const { idempotencyKey = keyMadeFrom(event?.id ?? bytes) } = options;
  return signBytes(new Uint8Array(bytes), { ...options, idempotencyKey });
}

function write(event: AnyEvent): Uint8Array {
  check(isWebhookEvent(event), 'event must be an envelope; body takes any text or bytes');
  try {
    return exactBytes(eventJson(event));
  } catch {
    check(false, 'event cannot be written as JSON');
  }
}

/**
 * Returns an event as the service writes it: JSON with spaces between its parts, so that it differs from the result of
 * `JSON.stringify`. `signDelivery` and the emulator send this form.
 *
 * @throws TypeError for a value that JSON cannot represent, such as a BigInt or a cycle
 * @example
 * const body = eventJson(sampleEvent('stt.completed')); // { "id": "evt_…", "type": "stt.completed", …
 */
export function eventJson(event: object): string {
  return JSON.stringify(event, null, 1).replace(/\n */g, ' ');
}

/** Returns the same key for the same event, in characters that a header may contain. */
function keyMadeFrom(body: string | Uint8Array): string {
  const [mac = ''] = Object.values(sign({ body, secret: 'idempotency key', scheme: 'legacy' }));
  return `key_${mac.slice(-32)}`;
}

function signBytes(bytes: Uint8Array, options: SigningOptions & { idempotencyKey: string }): SignedDelivery {
  const { secret, at = Date.now(), scheme, attempt = 1, webhookId = 'endpoint_sample', headerPrefix } = options;
  const { idempotencyKey } = options;
  checkPositiveInteger('attempt', attempt);
  for (const [name, value] of Object.entries({ webhookId, idempotencyKey })) {
    check(typeof value === 'string' && /^[!-~]+$/.test(value), `${name} must be visible ASCII`);
  }
  const delivery: SignedDelivery = {
    method: 'POST',
    headers: deliveryHeaders({ body: bytes, secret, at, scheme, attempt, webhookId, idempotencyKey, headerPrefix }),
    body: new Uint8Array(bytes),
    at,
    again: ({ idempotencyKey: key = idempotencyKey, ...changes } = {}) =>
      signBytes(bytes, { ...options, at: undefined, ...changes, idempotencyKey: key }),
  };
  return keptOutOfSpreads(delivery, ['at', 'again']);
}

/** Makes properties of a delivery non-enumerable, so that a spread has only those of the request. */
export function keptOutOfSpreads<D extends DeliveryRequest>(delivery: D, names: readonly (keyof D)[]): D {
  for (const name of names) Object.defineProperty(delivery, name, { enumerable: false });
  return delivery;
}
