import type { Delivery, Receiver, ReceiverOptions } from 'service-webhooks';
import { type NodeHandler, type NodeMiddleware, nodeHandler, nodeMiddleware } from './shared/node-http.js';

declare module 'http' {
  interface IncomingMessage {
    /** The verified delivery, behind `webhookMiddleware`. */
    webhook?: Delivery | undefined;
  }
}

const RAW_BODY_FIX = 'Call the handler before anything reads req, or put the exact bytes on req.rawBody (a Buffer).';

/**
 * An endpoint for Node's own `http`: verifies, deduplicates, dispatches, answers. Never rejects.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`, when it is made.
 * @example
 * createServer(webhookHandler({ secret, on: { '*': (event) => console.log(event.type) } })).listen(3000);
 */
export function webhookHandler(receiverOrOptions: Receiver | ReceiverOptions): NodeHandler {
  return nodeHandler(receiverOrOptions, RAW_BODY_FIX);
}

/**
 * Connect-style middleware: verifies and claims, hands the delivery on as `req.webhook`, calls `next()`. A 2xx
 * response completes the claim, any other releases it; if the connection closes first, the lease decides.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`, when it is made.
 * @example
 * app.use('/webhooks', webhookMiddleware({ secret }), (req, res) => res.end(req.webhook?.event.id));
 */
export function webhookMiddleware(receiverOrOptions: Receiver | ReceiverOptions): NodeMiddleware {
  return nodeMiddleware(receiverOrOptions, RAW_BODY_FIX);
}
