import { exactBytes } from '../../bytes.js';
import type { DeliveryRequest } from '../sign-delivery.js';

/** The argument of Fastify's `inject`. */
export interface InjectOptions {
  method: 'POST';
  url: string;
  headers: Record<string, string>;
  /** The body as a Buffer, because Fastify writes any other array of bytes as JSON. */
  payload: Uint8Array;
}

/**
 * Returns a delivery for Fastify's `inject`, which needs no port.
 *
 * @example
 * const { statusCode } = await app.inject(toInject(delivery, '/webhooks'));
 */
export function toInject({ headers, body }: DeliveryRequest, url: string): InjectOptions {
  return { method: 'POST', url, headers: { ...headers }, payload: Buffer.from(exactBytes(body)) };
}
