import type { Receiver, ReceiverOptions } from 'service-webhooks';
import { type FetchHandler, type FetchRoute, fetchHandler, fetchMiddleware } from './shared/fetch-api.js';

const RAW_BODY_FIX = 'Export it as POST of route.ts, and read no body before it: no await request.json() around it.';

/**
 * A route handler for the App Router of Next: verifies, deduplicates, dispatches, answers. Never rejects.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`, when it is made.
 * @example
 * // app/webhooks/route.ts
 * const secret = async () => [process.env.WEBHOOK_SECRET ?? '']; // next build loads this file, without it perhaps
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
 * // app/webhooks/route.ts
 * export const POST = webhookMiddleware({ secret }, async (request, { event }) => {
 *   await save(event);
 *   return Response.json({ thanks: true });
 * });
 */
export function webhookMiddleware(receiverOrOptions: Receiver | ReceiverOptions, route: FetchRoute): FetchHandler {
  return fetchMiddleware(receiverOrOptions, route, RAW_BODY_FIX);
}
