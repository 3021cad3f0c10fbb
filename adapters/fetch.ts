import type { EndpointOptions, MiddlewareOptions, Receiver } from 'service-webhooks';
import { type FetchHandler, type FetchRoute, fetchForm } from './shared/fetch-api.js';
import { functionHandler, functionMiddleware } from './shared/function-endpoint.js';

const RAW_BODY_FIX = 'Give the receiver the request before anything reads its body, or a request.clone() made in time.';

const FORM = fetchForm(RAW_BODY_FIX);

/**
 * Returns an endpoint for every runtime that uses Fetch (Workers, Deno, Bun, SvelteKit and others). It verifies each
 * delivery, recognises retries, calls your handler and resolves to the answer. It never rejects. Several routes may
 * share a receiver from `createReceiver`.
 *
 * @throws WebhookError `invalid_secret` or `invalid_option`, when the endpoint is created.
 * @example
 * export const POST = webhookHandler({ secret, on: { 'stt.completed': (event) => save(event.jobId) } });
 */
export function webhookHandler(receiverOrOptions: Receiver | EndpointOptions): FetchHandler {
  return functionHandler(receiverOrOptions, FORM);
}

/**
 * Returns an endpoint that verifies each delivery, claims it and lets `route` return the response. A 2xx response
 * completes the claim once it was sent whole. Any other response releases it, and the service retries; so does an error
 * that `route` throws, which is answered 500. If the sender has disconnected by then, the claim ends with its lease.
 * The request's body is already read: use `delivery.body`. Several routes may share a receiver from `createReceiver`.
 *
 * @throws WebhookError `invalid_secret` or `invalid_option`, when the endpoint is created.
 * @example
 * export const POST = webhookMiddleware({ secret }, async (request, { event }) => {
 *   await save(event);
 *   return new Response(null, { status: 204 });
 * });
 */
export function webhookMiddleware(receiverOrOptions: Receiver | MiddlewareOptions, route: FetchRoute): FetchHandler {
  return functionMiddleware(receiverOrOptions, route, FORM);
}
