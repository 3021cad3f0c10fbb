import type { Context, Next } from 'koa';
import {
  type Delivery,
  isWebhookError,
  type Receiver,
  type ReceiverOptions,
  type WebhookRequest,
  type WebhookResponse,
} from 'service-webhooks';
import { fromNodeRequest, settleWith } from './shared/node-http.js';
import { toReceiver } from './shared/to-receiver.js';

declare module 'koa' {
  interface DefaultState {
    /** The verified delivery, behind `webhookMiddleware`. */
    webhook?: Delivery | undefined;
  }
}

const RAW_BODY_FIX = 'Mount the receiver above app.use(bodyParser()), or put the exact bytes on ctx.req.rawBody.';

/**
 * An endpoint for Koa 2 and 3: verifies, deduplicates, dispatches, answers. Mount it above the body parser.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`, when it is made.
 * @example
 * router.post('/webhooks', webhookHandler({ secret, on: { 'stt.completed': (event) => save(event.jobId) } }));
 */
export function webhookHandler(receiverOrOptions: Receiver | ReceiverOptions): (ctx: Context) => Promise<void> {
  const receiver = toReceiver(receiverOrOptions);
  return async (ctx) => send(ctx, await receiver(toRequest(ctx)));
}

/**
 * Middleware for Koa 2 and 3: verifies and claims, hands the delivery on as `ctx.state.webhook`. A 2xx response
 * completes the claim, any other releases it; if the connection closes first, the lease decides.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`, when it is made.
 * @example
 * router.post('/webhooks', webhookMiddleware({ secret }), async (ctx) => {
 *   await save(ctx.state.webhook?.event);
 *   ctx.status = 204;
 * });
 */
export function webhookMiddleware(
  receiverOrOptions: Receiver | ReceiverOptions,
): (ctx: Context, next: Next) => Promise<void> {
  const receiver = toReceiver(receiverOrOptions);
  return async (ctx, next) => {
    const begun = await receiver.begin(toRequest(ctx));
    if ('response' in begun) return send(ctx, begun.response);
    if (!settleWith(ctx.res, begun)) return;
    ctx.state.webhook = begun.delivery;
    try {
      await next();
    } catch (error) {
      const response = await begun.settle('failed', error);
      if (!isWebhookError(error)) throw error;
      send(ctx, response);
    }
  };
}

function toRequest({ req, request }: Context): WebhookRequest {
  // Where a parser has put them: on Koa's request as text, which is good enough, since no signature holds where it is
  // not the exact bytes.
  const { rawBody, body } = request as { rawBody?: unknown; body?: unknown };
  const kept = (req as { rawBody?: unknown }).rawBody ?? rawBody;
  return fromNodeRequest(req, { rawBody: kept, body }, RAW_BODY_FIX);
}

function send(ctx: Context, { status, headers, body }: WebhookResponse): void {
  ctx.status = status;
  ctx.set(headers);
  ctx.body = body === '' ? null : body;
}
