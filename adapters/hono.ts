import type { IncomingMessage } from 'node:http';
import type { Context, MiddlewareHandler } from 'hono';
import {
  type Delivery,
  isWebhookError,
  type Receiver,
  type ReceiverOptions,
  type WebhookRequest,
} from 'service-webhooks';
import { toFetchResponse } from './shared/fetch-api.js';
import { NodeBody } from './shared/node-body.js';
import { toReceiver } from './shared/to-receiver.js';

const RAW_BODY_FIX =
  'Mount the receiver above whatever reads the body, or read it with await c.req.arrayBuffer() first, which Hono keeps.';

/**
 * An endpoint for Hono: verifies, deduplicates, dispatches, answers.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`, when it is made.
 * @example
 * app.post('/webhooks', webhookHandler({ secret, on: { 'stt.completed': (event) => save(event.jobId) } }));
 */
export function webhookHandler(receiverOrOptions: Receiver | ReceiverOptions): (c: Context) => Promise<Response> {
  const receiver = toReceiver(receiverOrOptions);
  return async (c) => toFetchResponse(await receiver(await toRequest(c)));
}

/**
 * Middleware for Hono: verifies and claims, hands the delivery on as `c.var.webhook`. A 2xx response completes the
 * claim, any other releases it; if the sender has left by then, the lease decides.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`, when it is made.
 * @example
 * app.post('/webhooks', webhookMiddleware({ secret }), async (c) => {
 *   await save(c.var.webhook.event);
 *   return c.body(null, 204);
 * });
 */
export function webhookMiddleware(
  receiverOrOptions: Receiver | ReceiverOptions,
): MiddlewareHandler<{ Variables: { webhook: Delivery } }> {
  const receiver = toReceiver(receiverOrOptions);
  return async (c, next) => {
    const begun = await receiver.begin(await toRequest(c));
    if ('response' in begun) return toFetchResponse(begun.response);
    // Hono's own cache, so that c.req.json() and the like still work behind this.
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
  const { method } = raw;
  // On Node, while nobody has touched it: Hono's server looks each header up anew, and for a stream it builds a whole
  // Request, which costs most of all. Not even `bodyUsed` may be asked for: that builds one in its first version.
  const incoming: IncomingMessage | undefined = c.env?.incoming;
  if (incoming?.readableFlowing === null && !isReplaced(raw) && !isBuilt(raw)) {
    return { method, headers: incoming.headers, body: new NodeBody(incoming), rawBodyFix: RAW_BODY_FIX };
  }
  const body = (await bodyOf(c)) as WebhookRequest['body'];
  return { method, headers: raw.headers, body, signal: raw.signal, rawBodyFix: RAW_BODY_FIX };
}

/** By a middleware, with a Request that is none of the server's own, which only inherit from it. */
function isReplaced(raw: Request): boolean {
  return Object.getPrototypeOf(raw) === Request.prototype;
}

/**
 * Somebody has looked into the server's own Request. Behind it there is a whole one by now, whose stream takes over the
 * incoming one a moment later, which would be read twice then.
 */
function isBuilt(raw: Request): boolean {
  return Object.getOwnPropertySymbols(raw).some(({ description }) => description === 'requestCache');
}

/** The stream, or what Hono kept of it. Text is good enough: where it is not the exact bytes, no signature holds. */
async function bodyOf({ req }: Context): Promise<unknown> {
  if (!req.raw.bodyUsed) return req.raw.body;
  const { arrayBuffer, text } = req.bodyCache;
  return Promise.resolve(arrayBuffer ?? text).catch(() => undefined);
}
