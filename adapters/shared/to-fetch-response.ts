import type { WebhookResponse } from 'service-webhooks';

/** Returns a Fetch `Response`. An empty body becomes null, because a 204 must not even have an empty one. */
export function toFetchResponse({ status, headers, body }: WebhookResponse): Response {
  return new Response(body === '' ? null : body, { status, headers });
}
