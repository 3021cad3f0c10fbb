import type { IncomingMessage } from 'node:http';
import type { Context, MiddlewareHandler } from 'hono';
import {
  type Delivery,
  type EndpointOptions,
  isWebhookError,
  type MiddlewareOptions,
  type Receiver,
  type WebhookRequest,
} from 'service-webhooks';
import { toFetchResponse } from './shared/fetch-api.js';
import { endpointReceiver, middlewareReceiver } from './shared/to-receiver.js';

const RAW_BODY_FIX =
  'Mount the receiver above whatever reads the body, or read it with await c.req.arrayBuffer() first, which Hono keeps.';

/**
 * Returns the endpoint of a receiver that you created with `createReceiver`; several routes may share it.
 *
 * @throws WebhookError `invalid_option` where the receiver has neither `on` nor a queue.
 */
export function webhookHandler(receiver: Receiver): (c: Context) => Promise<Response>;
/**
 * Returns an endpoint for Hono. It verifies each delivery, recognises retries, calls your handler and answers.
 *
 * @throws WebhookError `invalid_secret` or `invalid_option`, when the endpoint is created.
 * @example
 * app.post('/webhooks', webhookHandler({ secret, on: { 'stt.completed': (event) => save(event.jobId) } }));
 */
export function webhookHandler(options: EndpointOptions): (c: Context) => Promise<Response>;
export function webhookHandler(receiverOrOptions: Receiver | EndpointOptions): (c: Context) => Promise<Response> {
  const receiver = endpointReceiver(receiverOrOptions);
  return async (c) => toFetchResponse(await receiver(await toRequest(c)));
}

/** Returns the middleware of a receiver that you created with `createReceiver`; several routes may share it. */
export function webhookMiddleware(receiver: Receiver): MiddlewareHandler<{ Variables: { webhook: Delivery } }>;
/**
 * Returns middleware for Hono that verifies each delivery, claims it and sets `c.var.webhook`. A 2xx response completes
 * the claim. Any other response releases it, and the service retries. If the sender has disconnected by then, the claim
 * ends with its lease.
 *
 * @throws WebhookError `invalid_secret` or `invalid_option`, when the middleware is created.
 * @example
 * app.post('/webhooks', webhookMiddleware({ secret }), async (c) => {
 *   await save(c.var.webhook.event);
 *   return c.body(null, 204);
 * });
 */
export function webhookMiddleware(options: MiddlewareOptions): MiddlewareHandler<{ Variables: { webhook: Delivery } }>;
export function webhookMiddleware(
  receiverOrOptions: Receiver | MiddlewareOptions,
): MiddlewareHandler<{ Variables: { webhook: Delivery } }> {
  const receiver = middlewareReceiver(receiverOrOptions);
  return async (c, next) => {
    const begun = await receiver.begin(await toRequest(c));
    if ('response' in begun) return toFetchResponse(begun.response);
    // Hono reads its own cache first, so that the route can still call c.req.json() and the like.
    Object.assign(c.req.bodyCache, { arrayBuffer: Promise.resolve(new Uint8Array(begun.delivery.body).buffer) });
    c.set('webhook', begun.delivery);
    try {
      await next();
    } catch (error) {
      await begun.settle('failed', error);
      throw error;
    }
    const response = await begun.settle(c.req.raw.signal.aborted ? 'unknown' : c.res.ok ? 'ok' : 'failed', c.error);
    if (isWebhookError(c.error)) c.res = toFetchResponse(response);
    return undefined;
  };
}

async function toRequest(c: Context): Promise<WebhookRequest> {
  const { raw } = c.req;
  const incoming = untouchedIncoming(c);
  if (incoming) return { method: raw.method, headers: incoming.headers, body: incoming, rawBodyFix: RAW_BODY_FIX };
  const body = (await bodyOf(c)) as WebhookRequest['body'];
  return { method: raw.method, headers: raw.headers, body, signal: raw.signal, rawBodyFix: RAW_BODY_FIX };
}

/**
 * Returns Node's own request on @hono/node-server while no code has read the Fetch request around it. Building that
 * Fetch request is the most expensive part of a delivery, and its stream then reads from Node's request.
 */
function untouchedIncoming({ env, req: { raw } }: Context): IncomingMessage | undefined {
  const incoming: IncomingMessage | undefined = env?.incoming;
  if (incoming?.readableFlowing !== null) return undefined;
  // A middleware may have replaced the request by one that does not inherit from the server's own.
  const isOwn = Object.getPrototypeOf(raw) !== Request.prototype;
  // @hono/node-server has no public way to ask this; the names of its symbols are the only trace.
  const isBuilt = Object.getOwnPropertySymbols(raw).some(({ description }) => description === 'requestCache');
  return isOwn && !isBuilt ? incoming : undefined;
}

/**
 * Returns the stream, or the body that Hono has cached. Cached text is safe: if it is not the exact bytes, no signature
 * matches.
 */
async function bodyOf({ req }: Context): Promise<unknown> {
  if (!req.raw.bodyUsed) return req.raw.body;
  const { arrayBuffer, text } = req.bodyCache;
  return Promise.resolve(arrayBuffer ?? text).catch(() => undefined);
}
