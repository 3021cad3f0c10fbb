import type { ServerResponse } from 'node:http';
import type { EndpointOptions, MiddlewareOptions, Receiver } from 'service-webhooks';
import { type NodeHandler, type NodeRequest, type NodeRoute, nodeByRoute, nodeHandler } from './shared/node-http.js';

const RAW_BODY_FIX = 'Add to the API route: export const config = { api: { bodyParser: false } };';

/**
 * Returns an API route for the Pages Router of Next. It verifies each delivery, recognises retries, calls your handler
 * and answers. The route must also export `config = { api: { bodyParser: false } }`. Several routes may share a
 * receiver from `createReceiver`.
 *
 * @throws WebhookError `invalid_secret` or `invalid_option`, when the route is created.
 * @example
 * // pages/api/webhooks.ts
 * export const config = { api: { bodyParser: false } };
 * export default webhookHandler({ secret, on: { 'stt.completed': (event) => save(event.jobId) } });
 */
export function webhookHandler(receiverOrOptions: Receiver | EndpointOptions): NodeHandler {
  return nodeHandler(receiverOrOptions, RAW_BODY_FIX);
}

/**
 * Returns an API route that verifies each delivery, claims it and runs `route`. A 2xx response completes the claim once
 * it was sent whole. Any other response releases it, and the service retries; so does an error that `route` throws,
 * which is answered 500. If the connection closes before the response ends, the claim ends with its lease. Several
 * routes may share a receiver from `createReceiver`.
 *
 * @throws WebhookError `invalid_secret` or `invalid_option`, when the route is created.
 * @example
 * // pages/api/webhooks.ts
 * export const config = { api: { bodyParser: false } };
 * export default webhookMiddleware({ secret }, async (req, res, { event }) => {
 *   await save(event);
 *   res.writeHead(204).end();
 * });
 */
export function webhookMiddleware<Req extends NodeRequest, Res extends ServerResponse>(
  receiverOrOptions: Receiver | MiddlewareOptions,
  route: NodeRoute<Req, Res>,
): (req: Req, res: Res) => Promise<void> {
  return nodeByRoute(receiverOrOptions, route, RAW_BODY_FIX);
}
