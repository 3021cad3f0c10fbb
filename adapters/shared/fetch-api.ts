import type { WebhookResponse } from 'service-webhooks';

/** A Fetch `Response`; one without a body gets none, since 204 may not even have an empty one. */
export function toFetchResponse({ status, headers, body }: WebhookResponse): Response {
  return new Response(body === '' ? null : body, { status, headers });
}
