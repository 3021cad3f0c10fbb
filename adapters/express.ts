import type { IncomingMessage } from 'node:http';
import type { Delivery, EndpointOptions, MiddlewareOptions, Receiver } from 'service-webhooks';
import { type NodeHandler, type NodeMiddleware, nodeHandler, nodeMiddleware } from './shared/node-http.js';

declare global {
  namespace Express {
    interface Request {
      /** The verified delivery, set by `webhookMiddleware`. */
      webhook?: Delivery | undefined;
    }
  }
}

const RAW_BODY_FIX =
  'Mount the receiver above app.use(express.json()), or keep the bytes: ' +
  'express.json({ verify: (req, res, bytes) => { req.rawBody = bytes } }).';

/** Express's parsers by the names of their functions, which the stack of a router lists. */
const PARSERS: Readonly<Record<string, string>> = {
  jsonParser: 'express.json()',
  urlencodedParser: 'express.urlencoded()',
  textParser: 'express.text()',
  rawParser: 'express.raw()',
};

interface Router {
  stack?: readonly { name: string }[];
}

/** Names the parsers that the app has mounted, where one of them may have read the body. */
function rawBodyFix(req: IncomingMessage & { app?: { _router?: Router; router?: Router } }): string {
  if (!req.readableDidRead) return RAW_BODY_FIX;
  const { app } = req;
  const { stack = [] } = app?._router ?? app?.router ?? {}; // in Express 4, reading `router` throws
  const parsers = new Set(stack.flatMap(({ name }) => PARSERS[name] ?? []));
  return parsers.size === 0 ? RAW_BODY_FIX : `This app has ${[...parsers].join(', ')}. ${RAW_BODY_FIX}`;
}

/**
 * Returns an endpoint for Express 4 and 5. It verifies each delivery, recognises retries, calls your handler and
 * answers. Mount it above `express.json()`. Several routes may share a receiver from `createReceiver`.
 *
 * @throws WebhookError `invalid_secret` or `invalid_option`, when the endpoint is created.
 * @example
 * app.post('/webhooks', webhookHandler({
 *   secret,
 *   on: { 'stt.completed': (event) => save(event.jobId) },
 * }));
 */
export function webhookHandler(receiverOrOptions: Receiver | EndpointOptions): NodeHandler {
  return nodeHandler(receiverOrOptions, rawBodyFix);
}

/**
 * Returns middleware for Express 4 and 5 that verifies each delivery, claims it, sets `req.webhook` and calls `next()`.
 * A 2xx response completes the claim once it was sent whole. Any other response releases it, and the service retries.
 * If the connection closes before the response ends, the claim ends with its lease. Several routes may share a receiver
 * from `createReceiver`.
 *
 * @throws WebhookError `invalid_secret` or `invalid_option`, when the middleware is created.
 * @example
 * app.post('/webhooks', webhookMiddleware({ secret }), async (req, res) => {
 *   await save(req.webhook?.event);
 *   res.sendStatus(204);
 * });
 */
export function webhookMiddleware(receiverOrOptions: Receiver | MiddlewareOptions): NodeMiddleware {
  return nodeMiddleware(receiverOrOptions, rawBodyFix);
}
