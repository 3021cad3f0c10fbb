import type {
  BegunDelivery,
  Delivery,
  EndpointOptions,
  HandlerContext,
  MiddlewareOptions,
  Receiver,
  WebhookResponse,
} from 'service-webhooks';
import { answerByRoute } from './shared/answer-by-route.js';
import { answerOnNode } from './shared/answer-on-node.js';
import { calledBy } from './shared/called-by.js';
import { readH3Answer } from './shared/h3-answer.js';
import { fromH3Event, type H3EventLike, responseOf, watchImitated } from './shared/h3-event.js';
import { toFetchResponse } from './shared/to-fetch-response.js';
import { endpointReceiver, routeReceiver } from './shared/to-receiver.js';
import type { OnResponseEnd } from './shared/watch-response.js';

export type { H3EventLike };

const RAW_BODY_FIX = 'Call the receiver before readBody(event), or keep the bytes with readRawBody(event, false).';

/**
 * Returns an event handler for h3 1 and 2, and so for Nitro and Nuxt. It verifies each delivery, recognises retries,
 * calls your handler and answers. Several routes may share a receiver from `createReceiver`.
 *
 * @throws WebhookError `invalid_secret` or `invalid_option`, when the handler is created.
 * @example
 * export default defineEventHandler(webhookHandler({ secret, on: { 'stt.completed': (event) => save(event.jobId) } }));
 */
export function webhookHandler(
  receiverOrOptions: Receiver | EndpointOptions,
): (event: H3EventLike) => Promise<Response> {
  const receiver = endpointReceiver(receiverOrOptions);
  const handler = async (event: H3EventLike) => toAnswer(event, await receiver(await fromH3Event(event, RAW_BODY_FIX)));
  return markAsHandler(calledBy(['h3'], receiver, handler));
}

/**
 * Returns an event handler that verifies each delivery, claims it and lets `route` answer. A 2xx answer completes the
 * claim once it was sent whole. Any other answer, or an error that `route` throws, releases it, and the service
 * retries. If the sender has disconnected by then, the claim ends with its lease. On h3 2 outside of Node, data that is
 * not a stream counts as sent when `route` returns it. The request's body is already read: use `delivery.body`. Several
 * routes may share a receiver from `createReceiver`.
 *
 * @throws WebhookError `invalid_secret` or `invalid_option`, when the handler is created.
 * @example
 * export default defineEventHandler(webhookMiddleware({ secret }, async (event, delivery) => {
 *   await save(delivery.event);
 *   return { thanks: true };
 * }));
 */
export function webhookMiddleware<Event extends H3EventLike>(
  receiverOrOptions: Receiver | MiddlewareOptions,
  route: (event: Event, delivery: Delivery, context: HandlerContext) => unknown,
): (event: Event) => Promise<unknown> {
  const receiver = routeReceiver(receiverOrOptions, route);
  const handler = async (event: Event) => {
    const run = ({ delivery, context }: BegunDelivery) => route(event, delivery, context);
    const request = await fromH3Event(event, RAW_BODY_FIX);
    const form = {
      toAnswer: (response: WebhookResponse): unknown => toAnswer(event, response),
      read: (answer: unknown) => readH3Answer(answer, 'res' in event ? event.res.status : undefined),
      handlesErrors: true,
    };
    const res = responseOf(event);
    if (!res) return answerByRoute(receiver, request, run, form);
    const watchMore = (onEnd: OnResponseEnd) => watchImitated(res, onEnd);
    return answerOnNode(receiver, request, res, run, { ...form, watchMore });
  };
  return markAsHandler(calledBy(['h3'], receiver, handler));
}

/** h3 1 accepts any function as a handler, but warns of one without this mark. */
function markAsHandler<Handler extends object>(handler: Handler): Handler {
  return Object.assign(handler, { __is_handler__: true });
}

/** Where other code has ended the response, a write emits an error that no code catches, and the process ends. */
function toAnswer(event: H3EventLike, response: WebhookResponse): Response {
  return toFetchResponse(responseOf(event)?.writableEnded ? { ...response, body: '' } : response);
}
