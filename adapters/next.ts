import type { EndpointOptions, MiddlewareOptions, Receiver } from 'service-webhooks';
import { type FetchHandler, type FetchRoute, fetchForm } from './shared/fetch-api.js';
import { functionHandler, functionMiddleware } from './shared/function-endpoint.js';

const RAW_BODY_FIX = 'Export it as POST of route.ts, and read no body before it: no await request.json() around it.';

const FORM = fetchForm(RAW_BODY_FIX);

/**
 * Returns a route handler for the App Router of Next. It verifies each delivery, recognises retries, calls your handler
 * and resolves to the answer. It never rejects. Several routes may share a receiver from `createReceiver`.
 *
 * @throws WebhookError `invalid_secret` or `invalid_option`, when the route is created.
 * @example
 * // app/webhooks/route.ts
 * const secret = async () => [process.env['WEBHOOK_SECRET'] ?? '']; // a function, because `next build` runs this file too
 * export const POST = webhookHandler({ secret, on: { 'stt.completed': (event) => save(event.jobId) } });
 */
export function webhookHandler(receiverOrOptions: Receiver | EndpointOptions): FetchHandler {
  return functionHandler(receiverOrOptions, FORM);
}

/**
 * Returns a route handler that verifies each delivery, claims it and lets `route` return the response. A 2xx response
 * completes the claim once it was sent whole. Any other response releases it, and the service retries; so does an error
 * that `route` throws, which is answered 500. If the sender has disconnected by then, the claim ends with its lease.
 * The request's body is already read: use `delivery.body`. Several routes may share a receiver from `createReceiver`.
 *
 * @throws WebhookError `invalid_secret` or `invalid_option`, when the route is created.
 * @example
 * // app/webhooks/route.ts
 * export const POST = webhookMiddleware({ secret }, async (request, { event }) => {
 *   await save(event);
 *   return Response.json({ thanks: true });
 * });
 */
export function webhookMiddleware(receiverOrOptions: Receiver | MiddlewareOptions, route: FetchRoute): FetchHandler {
  return functionMiddleware(receiverOrOptions, route, FORM);
}
