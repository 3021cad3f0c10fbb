import type { Secret } from '../verify/secret.js';
import { sign } from '../verify/sign.js';
import type { Scheme } from '../verify/signature.js';

/** The content of the headers of one attempt. */
export interface DeliveryHeadersInput {
  body: Uint8Array;
  secret: Secret;
  /** The signed time, in milliseconds since the epoch. */
  at: number;
  attempt: number;
  webhookId: string;
  idempotencyKey: string;
  /** The signatures to send. Default: `'both'`, as the service sends. */
  scheme?: Scheme | 'both' | undefined;
  /** Default: `'x-service'`. */
  headerPrefix?: string | undefined;
}

/** Returns the headers of one attempt, with names in lower case. */
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

/** Returns the headers that change when the same delivery is signed at another time. */
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

/** Returns headers in the spelling of the service, such as `X-Service-Attempt` for `x-service-attempt`. */
export function asSpecified(headers: Readonly<Record<string, string>>): [name: string, value: string][] {
  return Object.entries(headers).map(([name, value]) => [
    name.replace(/(?<=^|-)[a-z]/g, (letter) => letter.toUpperCase()),
    value,
  ]);
}
