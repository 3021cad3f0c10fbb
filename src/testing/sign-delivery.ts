import { check, checkObject, checkPositiveInteger } from '../check.js';
import { isWebhookEvent, type WebhookEvent } from '../event.js';
import { exactBytes } from '../http.js';
import type { Secret } from '../secret.js';
import { type Scheme, sign } from '../signature.js';

/** How a delivery is signed, and what its headers say; all but the secret has defaults. */
export interface SigningOptions {
  secret: Secret;
  /** Signed time, in milliseconds since the epoch; now. */
  at?: number | undefined;
  /** Which signatures; `'both'`, as the service sends. */
  scheme?: Scheme | 'both' | undefined;
  /** Which attempt of the delivery this is; 1. */
  attempt?: number | undefined;
  /** Id of the receiving endpoint; `'endpoint_sample'`. */
  webhookId?: string | undefined;
  /** By default made from the id of the event, or from the body: the same for each attempt. */
  idempotencyKey?: string | undefined;
  /** What the header names begin with; `x-service`. */
  headerPrefix?: string | undefined;
}

/** An event that is written as JSON, or a body as it is. */
export type SignDeliveryInput = SigningOptions &
  ({ event: WebhookEvent; body?: undefined } | { body: Uint8Array | ArrayBuffer | string; event?: undefined });

/** One request of a delivery. A receiver takes it as it is: `await receiver(delivery)`. */
export interface DeliveryRequest {
  method: string;
  headers: Record<string, string>;
  /** The exact bytes. */
  body: Uint8Array;
}

/** A request as the service sends it. */
export interface SignedDelivery extends DeliveryRequest {
  /** Signed time, in milliseconds since the epoch. */
  at: number;
  /**
   * The same delivery signed anew, now unless `at` says another time: `again({ attempt: 2 })` is the next attempt. Id,
   * `Idempotency-Key` and body stay.
   */
  again(changes?: Partial<SigningOptions>): SignedDelivery;
}

/**
 * Headers and exact bytes of a delivery as the service sends it (specification, section 6.2).
 *
 * An `event` is written with spaces between its parts, so that it is not what `JSON.stringify` makes of it: a receiver
 * that verifies `JSON.stringify(req.body)` fails in the test, as it would in earnest.
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

function write(event: WebhookEvent): Uint8Array {
  check(isWebhookEvent(event), 'event must be an envelope; body takes any text or bytes');
  try {
    return exactBytes(JSON.stringify(event, null, 1).replace(/\n */g, ' '));
  } catch {
    check(false, 'event cannot be written as JSON');
  }
}

/** The same for the same event (specification, section 6.2), and fit for a header whatever the id is. */
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
  const signatures = sign({ body: bytes, secret, at, scheme, headerPrefix });
  const prefix = headerPrefix?.toLowerCase() ?? 'x-service';
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...signatures,
      [`${prefix}-timestamp`]: String(Math.floor(at / 1000)),
      [`${prefix}-webhook-id`]: webhookId,
      [`${prefix}-attempt`]: String(attempt),
      'idempotency-key': idempotencyKey,
    },
    body: new Uint8Array(bytes),
    at,
    again: ({ idempotencyKey: key = idempotencyKey, ...changes } = {}) =>
      signBytes(bytes, { ...options, at: undefined, ...changes, idempotencyKey: key }),
  };
}
