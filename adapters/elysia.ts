import type { Delivery, HandlerContext, Receiver, ReceiverOptions } from 'service-webhooks';
import { checkRoute } from './shared/check-route.js';
import { fromFetchRequest, toFetchResponse } from './shared/fetch-api.js';
import { throughRoute } from './shared/through-route.js';
import { toReceiver } from './shared/to-receiver.js';

const RAW_BODY_FIX = "Give the route { parse: 'none' }: app.post('/webhooks', webhookHandler(…), { parse: 'none' }).";

/** What is read of Elysia's context. */
export interface ElysiaContextLike {
  request: Request;
  set: { status?: number | string | undefined };
}

/**
 * An endpoint for Elysia: verifies, deduplicates, dispatches, answers.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`, when it is made.
 * @example
 * app.post('/webhooks', webhookHandler({ secret, on: { '*': (event) => save(event) } }), { parse: 'none' });
 */
export function webhookHandler(
  receiverOrOptions: Receiver | ReceiverOptions,
): (context: ElysiaContextLike) => Promise<Response> {
  const receiver = toReceiver(receiverOrOptions);
  return async ({ request }) => toFetchResponse(await receiver(fromFetchRequest(request, RAW_BODY_FIX)));
}

/**
 * Verifies and claims, then lets `route` make the answer: a 2xx completes the claim, any other, or a throw, releases it;
 * if the sender has left by then, the lease decides. The body has been read: `delivery.body` has it.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`, when it is made.
 * @example
 * app.post('/webhooks', webhookMiddleware({ secret }, async (context, { event }) => {
 *   await save(event);
 *   return { thanks: true };
 * }), { parse: 'none' });
 */
export function webhookMiddleware<Context extends ElysiaContextLike>(
  receiverOrOptions: Receiver | ReceiverOptions,
  route: (context: Context, delivery: Delivery, claimed: HandlerContext) => unknown,
): (context: Context) => Promise<unknown> {
  checkRoute(route);
  const receiver = toReceiver(receiverOrOptions);
  return (context) =>
    throughRoute<unknown>(
      receiver,
      fromFetchRequest(context.request, RAW_BODY_FIX),
      (begun) => route(context, begun.delivery, begun.context),
      {
        statusOf: (answer) => statusOf(answer) ?? statusByName(context.set.status),
        toAnswer: toFetchResponse,
        takesErrors: true,
      },
    );
}

/** Of a `Response`, and of what Elysia's `status(…)` gives. */
function statusOf(answer: unknown): number | undefined {
  if (answer instanceof Response) return answer.status;
  const { code, response } = (answer ?? {}) as { code?: unknown; response?: unknown };
  return typeof code === 'number' && response !== undefined ? code : undefined;
}

const SUCCESSES = ['OK', 'Created', 'Accepted', 'No Content', 'Reset Content', 'Partial Content'];

function statusByName(status: number | string = 200): number {
  if (typeof status === 'number') return status;
  return SUCCESSES.includes(status) ? 200 : 500;
}
