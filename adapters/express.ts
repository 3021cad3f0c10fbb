import type { Delivery, Receiver, ReceiverOptions } from 'service-webhooks';
import { type NodeHandler, type NodeMiddleware, nodeHandler, nodeMiddleware } from './shared/node-http.js';

declare global {
  namespace Express {
    interface Request {
      /** The verified delivery, behind `webhookMiddleware`. */
      webhook?: Delivery | undefined;
    }
  }
}

const RAW_BODY_FIX =
  'Mount the receiver above app.use(express.json()), or keep the bytes: ' +
  'express.json({ verify: (req, res, bytes) => { req.rawBody = bytes } }).';

/**
 * An endpoint for Express 4 and 5: verifies, deduplicates, dispatches, answers. Mount it above `express.json()`.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`, when it is made.
 * @example
 * app.post('/webhooks', webhookHandler({ secret, on: { 'stt.completed': (event) => save(event.jobId) } }));
 */
export function webhookHandler(receiverOrOptions: Receiver | ReceiverOptions): NodeHandler {
  return nodeHandler(receiverOrOptions, RAW_BODY_FIX);
}

/**
 * Middleware for Express 4 and 5: verifies and claims, hands the delivery on as `req.webhook`, calls `next()`. A 2xx
 * response completes the claim, any other releases it; if the connection closes first, the lease decides.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`, when it is made.
 * @example
 * app.post('/webhooks', webhookMiddleware({ secret }), async (req, res) => {
 *   await save(req.webhook?.event);
 *   res.sendStatus(204);
 * });
 */
export function webhookMiddleware(receiverOrOptions: Receiver | ReceiverOptions): NodeMiddleware {
  return nodeMiddleware(receiverOrOptions, RAW_BODY_FIX);
}
