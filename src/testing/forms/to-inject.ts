import { exactBytes } from '../../http.js';
import type { DeliveryRequest } from '../sign-delivery.js';

/** What Fastify's `inject` takes. */
export interface InjectOptions {
  method: 'POST';
  url: string;
  headers: Record<string, string>;
  /** A Buffer: Fastify writes any other array of bytes as JSON. */
  payload: Uint8Array;
}

/**
 * A delivery for Fastify's `inject`, where no port is needed.
 *
 * @example
 * const { statusCode } = await app.inject(toInject(delivery, '/webhooks'));
 */
export function toInject({ headers, body }: DeliveryRequest, url: string): InjectOptions {
  return { method: 'POST', url, headers: { ...headers }, payload: Buffer.from(exactBytes(body)) };
}
