import type { ServerResponse } from 'node:http';
import type { EndpointOptions, MiddlewareOptions, Receiver } from 'service-webhooks';
import { type NodeHandler, type NodeRequest, type NodeRoute, nodeByRoute, nodeHandler } from './shared/node-http.js';

const RAW_BODY_FIX = 'Leave req.rawBody as the platform puts it there: it has the exact bytes.';

/**
 * Returns an HTTP function for Google Cloud Functions, Cloud Run functions and Firebase. It verifies each delivery,
 * recognises retries, calls your handler and answers. Pass a shared store: each instance of the function has its own
 * memory. Several routes may share a receiver from `createReceiver`.
 *
 * @throws WebhookError `invalid_secret` or `invalid_option`, when the function is created.
 * @example
 * http('webhooks', webhookHandler({ secret, on: { 'stt.completed': (event) => save(event.jobId) } }));
 */
export function webhookHandler(receiverOrOptions: Receiver | EndpointOptions): NodeHandler {
  return nodeHandler(receiverOrOptions, RAW_BODY_FIX);
}

/**
 * Returns an HTTP function that verifies each delivery, claims it and runs `route`. A 2xx response completes the claim
 * once it was sent whole. Any other response releases it, and the service retries; so does an error that `route`
 * throws, which is answered 500. If the connection closes before the response ends, the claim ends with its lease.
 * Several routes may share a receiver from `createReceiver`.
 *
 * @throws WebhookError `invalid_secret` or `invalid_option`, when the function is created.
 * @example
 * http('webhooks', webhookMiddleware({ secret }, async (req, res, { event }) => {
 *   await save(event);
 *   res.writeHead(204).end();
 * }));
 */
export function webhookMiddleware<Req extends NodeRequest, Res extends ServerResponse>(
  receiverOrOptions: Receiver | MiddlewareOptions,
  route: NodeRoute<Req, Res>,
): (req: Req, res: Res) => Promise<void> {
  return nodeByRoute(receiverOrOptions, route, RAW_BODY_FIX);
}
