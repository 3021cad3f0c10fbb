import type { ServerResponse } from 'node:http';
import type { Delivery, Receiver, ReceiverOptions } from 'service-webhooks';
import { type NodeHandler, type NodeRequest, nodeHandler, nodeRoute } from './shared/node-http.js';

const RAW_BODY_FIX = 'Leave req.rawBody as the platform puts it there: it has the exact bytes.';

/**
 * An HTTP function for Google Cloud Functions, Cloud Run functions and Firebase: verifies, deduplicates, dispatches,
 * answers. Give it a shared store: each instance of a function has a memory of its own.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`, when it is made.
 * @example
 * http('webhooks', webhookHandler({ secret, on: { 'stt.completed': (event) => save(event.jobId) } }));
 */
export function webhookHandler(receiverOrOptions: Receiver | ReceiverOptions): NodeHandler {
  return nodeHandler(receiverOrOptions, RAW_BODY_FIX);
}

/**
 * Verifies and claims, then runs `route`. A 2xx response completes the claim, any other, or a throw (500), releases it;
 * if the connection closes first, the lease decides.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`, when it is made.
 * @example
 * http('webhooks', webhookMiddleware({ secret }, async (req, res, { event }) => {
 *   await save(event);
 *   res.sendStatus(204);
 * }));
 */
export function webhookMiddleware<Req extends NodeRequest, Res extends ServerResponse>(
  receiverOrOptions: Receiver | ReceiverOptions,
  route: (req: Req, res: Res, delivery: Delivery) => unknown,
): (req: Req, res: Res) => Promise<void> {
  return nodeRoute(receiverOrOptions, route, RAW_BODY_FIX);
}
