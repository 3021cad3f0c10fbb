import { exactBytes } from '../../bytes.js';
import { check } from '../../option-checks.js';
import type { DeliveryRequest } from '../sign-delivery.js';

/**
 * Returns a delivery as a Fetch `Request`, for `fetch`, for `service-webhooks/fetch` and `service-webhooks/hono`, and
 * for every handler that accepts a `Request`.
 *
 * @throws WebhookError `invalid_option` for a URL that is not absolute
 * @example
 * const response = await POST(toRequest(delivery, 'http://localhost/webhooks'));
 */
export function toRequest({ method, headers, body }: DeliveryRequest, url: string | URL): Request {
  check(URL.canParse(String(url)), 'url must be absolute');
  return new Request(url, { method, headers, body: new Uint8Array(exactBytes(body)) });
}
