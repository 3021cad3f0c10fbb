import type { Secret } from '../verify/secret.js';
import { sign } from '../verify/sign.js';
import type { Scheme } from '../verify/signature.js';

/** The content of the headers of one attempt. */
export interface DeliveryHeadersInput {
  /** The exact bytes that are sent. */
  body: Uint8Array;
  secret: Secret;
  /** The signed time, in milliseconds since the epoch. */
  at: number;
  /** The number of the attempt, from 1. */
  attempt: number;
  /** The endpoint's id. */
  webhookId: string;
  /** The same over all attempts of a delivery. */
  idempotencyKey: string;
  /** The signatures to send. Default: `'both'`, as the service sends. */
  scheme?: Scheme | 'both' | undefined;
  /** Default: `'x-service'`. */
  headerPrefix?: string | undefined;
}

/**
 * Returns the headers of one attempt, with names in lower case. {@link signDelivery} is the short way: it also makes the
 * body and the request.
 *
 * @throws WebhookError `invalid_option` for a header prefix or a time that cannot be sent; `invalid_secret`
 * @example
 * const attempt = { attempt: 1, webhookId: 'wh_1', idempotencyKey: 'key_1' };
 * const sent = deliveryHeaders({ body, secret, at: Date.now(), ...attempt });
 */
export function deliveryHeaders(input: DeliveryHeadersInput): Record<string, string> {
  const { attempt, webhookId, idempotencyKey, headerPrefix = 'x-service' } = input;
  const prefix = headerPrefix.toLowerCase();
  return {
    'content-type': 'application/json',
    ...signedHeaders(input),
    [`${prefix}-webhook-id`]: webhookId,
    [`${prefix}-attempt`]: String(attempt),
    'idempotency-key': idempotencyKey,
  };
}

/**
 * Returns the headers that change when the same delivery is signed at another time, with names in lower case.
 *
 * @throws WebhookError `invalid_option` for a header prefix or a time that cannot be sent; `invalid_secret`
 * @example
 * const headers = signedHeaders({ body: delivery.body, secret, at: Date.now() });
 * const again = { ...delivery, headers: { ...delivery.headers, ...headers } };
 */
export function signedHeaders({
  body,
  secret,
  at,
  scheme,
  headerPrefix = 'x-service',
}: Pick<DeliveryHeadersInput, 'body' | 'secret' | 'at' | 'scheme' | 'headerPrefix'>): Record<string, string> {
  return {
    ...sign({ body, secret, at, scheme, headerPrefix }),
    [`${headerPrefix.toLowerCase()}-timestamp`]: String(Math.floor(at / 1000)),
  };
}

/**
 * Returns headers in the spelling of the service, such as `X-Service-Attempt` for `x-service-attempt`.
 *
 * @example
 * for (const [name, value] of asSpecified(delivery.headers)) console.log(`${name}: ${value}`);
 */
export function asSpecified(headers: Readonly<Record<string, string>>): [name: string, value: string][] {
  return Object.entries(headers).map(([name, value]) => [
    name.replace(/(?<=^|-)[a-z]/g, (letter) => letter.toUpperCase()),
    value,
  ]);
}
