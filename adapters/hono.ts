import type { ServerResponse } from 'node:http';
import type { Context, MiddlewareHandler, Next } from 'hono';
import type { BegunDelivery, Delivery, EndpointOptions, MiddlewareOptions, Receiver } from 'service-webhooks';
import { answerByRoute, type ReturnedForm } from './shared/answer-by-route.js';
import { answerOnNode } from './shared/answer-on-node.js';
import { calledBy } from './shared/called-by.js';
import { isResponse, readResponse } from './shared/fetch-api.js';
import { fromHonoRequest, keepHonoBody } from './shared/hono-request.js';
import { toFetchResponse } from './shared/to-fetch-response.js';
import { endpointReceiver, middlewareReceiver } from './shared/to-receiver.js';

const RAW_BODY_FIX =
  'Mount the receiver above any middleware that reads the body, or call await c.req.arrayBuffer() first, which Hono caches.';

/**
 * Returns an endpoint for Hono. It verifies each delivery, recognises retries, calls your handler and answers. Several
 * routes may share a receiver from `createReceiver`.
 *
 * @throws WebhookError `invalid_secret` or `invalid_option`, when the endpoint is created.
 * @example
 * app.post('/webhooks', webhookHandler({ secret, on: { 'stt.completed': (event) => save(event.jobId) } }));
 */
export function webhookHandler(receiverOrOptions: Receiver | EndpointOptions): (c: Context) => Promise<Response> {
  const receiver = endpointReceiver(receiverOrOptions);
  return calledBy(['hono'], receiver, async (c: Context) =>
    toFetchResponse(await receiver(await fromHonoRequest(c, RAW_BODY_FIX))),
  );
}

/**
 * Returns middleware for Hono that verifies each delivery, claims it and sets `c.var.webhook`. A 2xx response completes
 * the claim once it was sent whole. Any other response releases it, and the service retries. If the sender has
 * disconnected by then, the claim ends with its lease. Several routes may share a receiver from `createReceiver`.
 *
 * @throws WebhookError `invalid_secret` or `invalid_option`, when the middleware is created.
 * @example
 * app.post('/webhooks', webhookMiddleware({ secret }), async (c) => {
 *   await save(c.var.webhook.event);
 *   return c.body(null, 204);
 * });
 */
export function webhookMiddleware(receiverOrOptions: Receiver | MiddlewareOptions): WebhookMiddleware {
  const receiver = middlewareReceiver(receiverOrOptions);
  return calledBy(['hono'], receiver, async (c: Parameters<WebhookMiddleware>[0], next: Next) => {
    const route = async ({ delivery }: BegunDelivery) => {
      keepHonoBody(c, delivery.body);
      c.set('webhook', delivery);
      await next();
      if (!c.finalized) return new Error('the route has returned no response'); // c.res would create one
      return c.error && !c.res.ok ? c.error : c.res; // Hono has answered an error of a route by now
    };
    const outgoing = outgoingOf(c);
    const answer = outgoing
      ? await answerOnNode<unknown>(receiver, await fromHonoRequest(c, RAW_BODY_FIX), outgoing, route, FORM)
      : await answerByRoute<unknown>(receiver, await fromHonoRequest(c, RAW_BODY_FIX), route, FORM);
    if (answer === c.res || !isResponse(answer)) return;
    c.res = undefined; // Hono would merge the headers of the old response into the new one
    c.res = answer;
  });
}

type WebhookMiddleware = MiddlewareHandler<{ Variables: { webhook: Delivery } }>;

const FORM: ReturnedForm<unknown> = {
  toAnswer: toFetchResponse,
  read: (answer) => (isResponse(answer) ? readResponse(answer) : { status: 500, error: answer }),
  handlesErrors: true,
};

/** Returns Node's own response on @hono/node-server, which knows what was sent. */
function outgoingOf({ env }: Context): ServerResponse | undefined {
  const outgoing: ServerResponse | undefined = env?.outgoing;
  return typeof outgoing?.writeHead === 'function' ? outgoing : undefined; // a binding may have the name
}
