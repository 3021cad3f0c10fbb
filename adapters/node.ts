import type { Delivery, EndpointOptions, MiddlewareOptions, Receiver } from 'service-webhooks';
import { type NodeHandler, type NodeMiddleware, nodeHandler, nodeMiddleware } from './shared/node-http.js';

declare module 'http' {
  interface IncomingMessage {
    /** The verified delivery, set by `webhookMiddleware`. */
    webhook?: Delivery | undefined;
  }
}

const RAW_BODY_FIX = 'Call the handler before anything reads req, or put the exact bytes on req.rawBody (a Buffer).';

/**
 * Returns an endpoint for `node:http`. It verifies each delivery, recognises retries, calls your handler and answers.
 * It never rejects. Several routes may share a receiver from `createReceiver`.
 *
 * @throws WebhookError `invalid_secret` or `invalid_option`, when the endpoint is created.
 * @example
 * createServer(webhookHandler({ secret, on: { '*': (event) => console.log(event.type) } })).listen(3000);
 */
export function webhookHandler(receiverOrOptions: Receiver | EndpointOptions): NodeHandler {
  return nodeHandler(receiverOrOptions, RAW_BODY_FIX);
}

/**
 * Returns Connect-style middleware that verifies each delivery, claims it, sets `req.webhook` and calls `next()`. A 2xx
 * response completes the claim once it was sent whole. Any other response releases it, and the service retries. If the
 * connection closes before the response ends, the claim ends with its lease. Several routes may share a receiver from
 * `createReceiver`.
 *
 * @throws WebhookError `invalid_secret` or `invalid_option`, when the middleware is created.
 * @example
 * app.use('/webhooks', webhookMiddleware({ secret }), (req, res) => res.end(req.webhook?.event.id));
 */
export function webhookMiddleware(receiverOrOptions: Receiver | MiddlewareOptions): NodeMiddleware {
  return nodeMiddleware(receiverOrOptions, RAW_BODY_FIX);
}
