import type { Delivery, EndpointOptions, HandlerContext, MiddlewareOptions, Receiver } from 'service-webhooks';
import { readElysiaAnswer, resolveElysiaAnswer } from './shared/elysia-answer.js';
import { fromFetchRequest } from './shared/fetch-api.js';
import { functionHandler, functionMiddleware } from './shared/function-endpoint.js';
import { toFetchResponse } from './shared/to-fetch-response.js';
import { routeReceiver } from './shared/to-receiver.js';

const RAW_BODY_FIX = "Give the route { parse: 'none' }: app.post('/webhooks', webhookHandler(…), { parse: 'none' }).";

/** The fields that the adapter reads from Elysia's context. */
export interface ElysiaContextLike {
  request: Request;
  set: { status?: number | string | undefined };
}

const FORM = {
  toRequest: ({ request }: Pick<ElysiaContextLike, 'request'>) => fromFetchRequest(request, RAW_BODY_FIX),
  toAnswer: toFetchResponse,
  callers: ['elysia', 'withRequest'],
  read: (answer: unknown, { set }: ElysiaContextLike) => readElysiaAnswer(answer, set.status),
  handlesErrors: true,
} as const;

/**
 * Returns an endpoint for Elysia. It verifies each delivery, recognises retries, calls your handler and answers.
 * Several routes may share a receiver from `createReceiver`.
 *
 * @throws WebhookError `invalid_secret` or `invalid_option`, when the endpoint is created.
 * @example
 * app.post('/webhooks', webhookHandler({ secret, on: { '*': (event) => save(event) } }), { parse: 'none' });
 */
export function webhookHandler(
  receiverOrOptions: Receiver | EndpointOptions,
): (context: ElysiaContextLike) => Promise<Response> {
  const answer = functionHandler(receiverOrOptions, FORM);
  // Elysia reads the source of a handler, and leaves the body unread for one that takes only the request.
  return ({ request }) => answer({ request });
}

/**
 * Returns a handler for Elysia that verifies each delivery, claims it and lets `route` answer. A 2xx answer completes
 * the claim once it was sent whole; data that is not a stream counts as sent when `route` returns it. Any other answer,
 * or an error that `route` throws, releases it, and the service retries. If the sender has disconnected by then, the
 * claim ends with its lease. A hook of the app or a `response` schema that refuses the answer afterwards is not
 * noticed: give the route none. The request's body is already read: use `delivery.body`. Several routes may share a
 * receiver from `createReceiver`.
 *
 * @throws WebhookError `invalid_secret` or `invalid_option`, when the handler is created.
 * @example
 * app.post('/webhooks', webhookMiddleware({ secret }, async (context, { event }) => {
 *   await save(event);
 *   return { thanks: true };
 * }), { parse: 'none' });
 */
export function webhookMiddleware<Context extends ElysiaContextLike>(
  receiverOrOptions: Receiver | MiddlewareOptions,
  route: (context: Context, delivery: Delivery, claimed: HandlerContext) => unknown,
): (context: Context) => Promise<unknown> {
  const receiver = routeReceiver(receiverOrOptions, route);
  const resolved: typeof route = async (...args) => resolveElysiaAnswer(await route(...args));
  const answer = functionMiddleware<Context, unknown>(receiver, resolved, FORM);
  return (context) => answer(context); // for Elysia's reading, a handler that uses the whole context
}
