import type { IncomingMessage, ServerResponse } from 'node:http';
import type {
  Delivery,
  EndpointOptions,
  HandlerContext,
  MiddlewareOptions,
  Receiver,
  WebhookRequest,
} from 'service-webhooks';
import { checkRoute } from './shared/check-route.js';
import { fromFetchRequest, toFetchResponse } from './shared/fetch-api.js';
import { fromNodeRequest } from './shared/node-http.js';
import { throughRoute } from './shared/through-route.js';
import { endpointReceiver, middlewareReceiver } from './shared/to-receiver.js';

const RAW_BODY_FIX = 'Call the receiver before readBody(event), or keep the bytes with readRawBody(event, false).';

/** The fields that the adapter reads from an event of h3 2 or h3 1. */
export type H3EventLike =
  | { req: Request; res: { status?: number | undefined } }
  | { node: { req: IncomingMessage; res: ServerResponse } };

/**
 * Returns the endpoint of a receiver that you created with `createReceiver`; several routes may share it.
 *
 * @throws WebhookError `invalid_option` where the receiver has neither `on` nor a queue.
 */
export function webhookHandler(receiver: Receiver): (event: H3EventLike) => Promise<Response>;
/**
 * Returns an event handler for h3 1 and 2, and so for Nitro and Nuxt. It verifies each delivery, recognises retries,
 * calls your handler and answers.
 *
 * @throws WebhookError `invalid_secret` or `invalid_option`, when the handler is created.
 * @example
 * export default defineEventHandler(webhookHandler({ secret, on: { 'stt.completed': (event) => save(event.jobId) } }));
 */
export function webhookHandler(options: EndpointOptions): (event: H3EventLike) => Promise<Response>;
export function webhookHandler(
  receiverOrOptions: Receiver | EndpointOptions,
): (event: H3EventLike) => Promise<Response> {
  const receiver = endpointReceiver(receiverOrOptions);
  return markAsHandler(async (event: H3EventLike) => toFetchResponse(await receiver(await toRequest(event))));
}

/** Returns the middleware of a receiver that you created with `createReceiver`; several routes may share it. */
export function webhookMiddleware<Event extends H3EventLike>(
  receiver: Receiver,
  route: (event: Event, delivery: Delivery, context: HandlerContext) => unknown,
): (event: Event) => Promise<unknown>;
/**
 * Returns an event handler that verifies each delivery, claims it and lets `route` answer. A 2xx answer completes the
 * claim. Any other answer, or an error that `route` throws, releases it, and the service retries. If the sender has
 * disconnected by then, the claim ends with its lease. The request's body is already read: use `delivery.body`.
 *
 * @throws WebhookError `invalid_secret` or `invalid_option`, when the handler is created.
 * @example
 * export default defineEventHandler(webhookMiddleware({ secret }, async (event, delivery) => {
 *   await save(delivery.event);
 *   return { thanks: true };
 * }));
 */
export function webhookMiddleware<Event extends H3EventLike>(
  options: MiddlewareOptions,
  route: (event: Event, delivery: Delivery, context: HandlerContext) => unknown,
): (event: Event) => Promise<unknown>;
export function webhookMiddleware<Event extends H3EventLike>(
  receiverOrOptions: Receiver | MiddlewareOptions,
  route: (event: Event, delivery: Delivery, context: HandlerContext) => unknown,
): (event: Event) => Promise<unknown> {
  checkRoute(route);
  const receiver = middlewareReceiver(receiverOrOptions);
  return markAsHandler(async (event: Event) =>
    throughRoute<unknown>(
      receiver,
      await toRequest(event),
      ({ delivery, context }) => route(event, delivery, context),
      {
        statusOf: (answer) => (answer instanceof Response ? answer.status : statusOf(event)),
        toAnswer: toFetchResponse,
        takesErrors: true,
      },
    ),
  );
}

/** h3 1 accepts any function as a handler, but warns of one without this mark. */
function markAsHandler<Handler extends object>(handler: Handler): Handler {
  return Object.assign(handler, { __is_handler__: true });
}

async function toRequest(event: H3EventLike): Promise<WebhookRequest> {
  if (!isOfNode(event)) return fromFetchRequest(event.req, RAW_BODY_FIX);
  const { req, res } = event.node;
  const sender = new AbortController();
  res.once('close', () => sender.abort());
  // h3 1 and the platforms of Nitro keep the body here; it is a promise after a call of readRawBody or readBody.
  const { rawBody, body, [RAW_BODY]: read } = req as Kept;
  const kept = await ((event as { _requestBody?: unknown })._requestBody ?? read ?? rawBody);
  return { ...fromNodeRequest(req, { rawBody: kept, body }, RAW_BODY_FIX), signal: sender.signal };
}

const RAW_BODY: unique symbol = Symbol.for('h3RawBody');
type Kept = { rawBody?: unknown; body?: unknown; [RAW_BODY]?: unknown };

/** `event.req` is the web request in h3 2 and Node's request in h3 1; on Node, h3 2 has both. */
function isOfNode(event: H3EventLike): event is Extract<H3EventLike, { node: unknown }> {
  return !('req' in event && typeof event.req.arrayBuffer === 'function');
}

function statusOf(event: H3EventLike): number {
  return isOfNode(event) ? event.node.res.statusCode : (event.res.status ?? 200);
}
