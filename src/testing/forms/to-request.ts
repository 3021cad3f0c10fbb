import { check } from '../../check.js';
import { exactBytes } from '../../http.js';
import type { DeliveryRequest } from '../sign-delivery.js';

/**
 * A delivery as a Fetch `Request`, for `fetch`, for `/fetch` and `/hono`, for every handler that takes one.
 *
 * @throws WebhookError `invalid_option` for a URL that is not absolute
 * @example
 * const response = await app.fetch(toRequest(delivery, 'http://localhost/webhooks'));
 */
export function toRequest({ method, headers, body }: DeliveryRequest, url: string | URL): Request {
  check(URL.canParse(String(url)), 'url must be absolute');
  return new Request(url, { method, headers, body: new Uint8Array(exactBytes(body)) });
}
