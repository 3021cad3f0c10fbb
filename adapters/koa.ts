import type { Context, Next } from 'koa';
import type {
  BegunDelivery,
  Delivery,
  EndpointOptions,
  MiddlewareOptions,
  Receiver,
  WebhookRequest,
  WebhookResponse,
} from 'service-webhooks';
import { answerOnNode } from './shared/answer-on-node.js';
import { calledBy } from './shared/called-by.js';
import { fromNodeRequest } from './shared/node-http.js';
import { endpointReceiver, middlewareReceiver } from './shared/to-receiver.js';

declare module 'koa' {
  interface DefaultState {
    /** The verified delivery, set by `webhookMiddleware`. */
    webhook?: Delivery | undefined;
  }
}

const RAW_BODY_FIX = 'Mount the receiver above app.use(bodyParser()), or put the exact bytes on ctx.req.rawBody.';

/**
 * Returns an endpoint for Koa 2 and 3. It verifies each delivery, recognises retries, calls your handler and answers.
 * Mount it above the body parser. Several routes may share a receiver from `createReceiver`.
 *
 * @throws WebhookError `invalid_secret` or `invalid_option`, when the endpoint is created.
 * @example
 * router.post('/webhooks', webhookHandler({ secret, on: { 'stt.completed': (event) => save(event.jobId) } }));
 */
export function webhookHandler(receiverOrOptions: Receiver | EndpointOptions): (ctx: Context) => Promise<void> {
  const receiver = endpointReceiver(receiverOrOptions);
  return calledBy(['koa'], receiver, async (ctx: Context) => send(ctx, await receiver(toRequest(ctx))));
}

/**
 * Returns middleware for Koa 2 and 3 that verifies each delivery, claims it and sets `ctx.state.webhook`. A 2xx
 * response completes the claim once it was sent whole. Any other response releases it, and the service retries. If the
 * connection closes before the response ends, the claim ends with its lease. Several routes may share a receiver from
 * `createReceiver`.
 *
 * @throws WebhookError `invalid_secret` or `invalid_option`, when the middleware is created.
 * @example
 * router.post('/webhooks', webhookMiddleware({ secret }), async (ctx) => {
 *   await save(ctx.state.webhook?.event);
 *   ctx.status = 204;
 * });
 */
export function webhookMiddleware(
  receiverOrOptions: Receiver | MiddlewareOptions,
): (ctx: Context, next: Next) => Promise<void> {
  const receiver = middlewareReceiver(receiverOrOptions);
  return calledBy(['koa'], receiver, async (ctx: Context, next: Next) => {
    const route = async ({ delivery }: BegunDelivery) => {
      ctx.state.webhook = delivery;
      await next();
    };
    const toAnswer = (response: WebhookResponse) => send(ctx, response);
    await answerOnNode(receiver, toRequest(ctx), ctx.res, route, { toAnswer, handlesErrors: true });
  });
}

function toRequest({ req, request }: Context): WebhookRequest {
  // Parsers put the body on Koa's request as text, which is safe: if it is not the exact bytes, no signature matches.
  const { rawBody, body } = request as { rawBody?: unknown; body?: unknown };
  const kept = (req as { rawBody?: unknown }).rawBody ?? rawBody;
  return fromNodeRequest(req, { rawBody: kept, body }, RAW_BODY_FIX);
}

function send(ctx: Context, { status, headers, body }: WebhookResponse): void {
  ctx.status = status;
  ctx.set(headers);
  ctx.body = body === '' ? null : body;
}
