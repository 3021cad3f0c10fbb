import type { Receiver, ReceiverOptions } from 'service-webhooks';
import { type FetchHandler, type FetchRoute, fetchHandler, fetchMiddleware } from './shared/fetch-api.js';

const RAW_BODY_FIX = 'Give the receiver the request before anything reads its body, or a request.clone() made in time.';

/**
 * An endpoint for every runtime that speaks Fetch (Workers, Deno, Bun, SvelteKit and more): verifies, deduplicates,
 * dispatches, answers. Never rejects.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`, when it is made.
 * @example
 * export const POST = webhookHandler({ secret, on: { 'stt.completed': (event) => save(event.jobId) } });
 */
export function webhookHandler(receiverOrOptions: Receiver | ReceiverOptions): FetchHandler {
  return fetchHandler(receiverOrOptions, RAW_BODY_FIX);
}

/**
 * Verifies and claims, then lets `route` make the response: a 2xx completes the claim, any other, or a throw (500),
 * releases it; if the sender has left by then, the lease decides. The body has been read: `delivery.body` has it.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`, when it is made.
 * @example
 * export const POST = webhookMiddleware({ secret }, async (request, { event }) => {
 *   await save(event);
 *   return new Response(null, { status: 204 });
 * });
 */
export function webhookMiddleware(receiverOrOptions: Receiver | ReceiverOptions, route: FetchRoute): FetchHandler {
  return fetchMiddleware(receiverOrOptions, route, RAW_BODY_FIX);
}
