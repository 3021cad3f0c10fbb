import type { ServerResponse } from 'node:http';
import type { Delivery, Receiver, ReceiverOptions } from 'service-webhooks';
import { type NodeHandler, type NodeRequest, nodeHandler, nodeRoute } from './shared/node-http.js';

const RAW_BODY_FIX = 'Add to the API route: export const config = { api: { bodyParser: false } };';

/**
 * An API route for the Pages Router of Next: verifies, deduplicates, dispatches, answers. The route also needs
 * `export const config = { api: { bodyParser: false } }`.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`, when it is made.
 * @example
 * // pages/api/webhooks.ts
 * export const config = { api: { bodyParser: false } };
 * export default webhookHandler({ secret, on: { 'stt.completed': (event) => save(event.jobId) } });
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
 * // pages/api/webhooks.ts
 * export const config = { api: { bodyParser: false } };
 * export default webhookMiddleware({ secret }, async (req, res, { event }) => {
 *   await save(event);
 *   res.status(200).json({ thanks: true });
 * });
 */
export function webhookMiddleware<Req extends NodeRequest, Res extends ServerResponse>(
  receiverOrOptions: Receiver | ReceiverOptions,
  route: (req: Req, res: Res, delivery: Delivery) => unknown,
): (req: Req, res: Res) => Promise<void> {
  return nodeRoute(receiverOrOptions, route, RAW_BODY_FIX);
}
