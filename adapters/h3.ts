import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Delivery, HandlerContext, Receiver, ReceiverOptions, WebhookRequest } from 'service-webhooks';
import { checkRoute } from './shared/check-route.js';
import { fromFetchRequest, toFetchResponse } from './shared/fetch-api.js';
import { fromNodeRequest } from './shared/node-http.js';
import { throughRoute } from './shared/through-route.js';
import { toReceiver } from './shared/to-receiver.js';

const RAW_BODY_FIX = 'Call the receiver before readBody(event), or keep the bytes with readRawBody(event, false).';

/** What is read of the event of h3 2, and of h3 1. */
export type H3EventLike =
  | { req: Request; res: { status?: number | undefined } }
  | { node: { req: IncomingMessage; res: ServerResponse } };

/**
 * An endpoint for h3 1 and 2, and so for Nitro and Nuxt: verifies, deduplicates, dispatches, answers.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`, when it is made.
 * @example
 * export default defineEventHandler(webhookHandler({ secret, on: { 'stt.completed': (event) => save(event.jobId) } }));
 */
export function webhookHandler(
  receiverOrOptions: Receiver | ReceiverOptions,
): (event: H3EventLike) => Promise<Response> {
  const receiver = toReceiver(receiverOrOptions);
  return markAsHandler(async (event: H3EventLike) => toFetchResponse(await receiver(await toRequest(event))));
}

/**
 * Verifies and claims, then lets `route` make the answer: a 2xx completes the claim, any other, or a throw, releases it;
 * if the sender has left by then, the lease decides. The body has been read: `delivery.body` has it.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`, when it is made.
 * @example
 * export default defineEventHandler(webhookMiddleware({ secret }, async (event, delivery) => {
 *   await save(delivery.event);
 *   return { thanks: true };
 * }));
 */
export function webhookMiddleware<Event extends H3EventLike>(
  receiverOrOptions: Receiver | ReceiverOptions,
  route: (event: Event, delivery: Delivery, context: HandlerContext) => unknown,
): (event: Event) => Promise<unknown> {
  checkRoute(route);
  const receiver = toReceiver(receiverOrOptions);
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

/** h3 1 takes any function for a handler, and complains of one without this. */
function markAsHandler<Handler extends object>(handler: Handler): Handler {
  return Object.assign(handler, { __is_handler__: true });
}

async function toRequest(event: H3EventLike): Promise<WebhookRequest> {
  if (!isOfNode(event)) return fromFetchRequest(event.req, RAW_BODY_FIX);
  const { req, res } = event.node;
  const sender = new AbortController();
  res.once('close', () => sender.abort());
  // What h3 1 and the platforms of Nitro have kept: a promise, where readRawBody or readBody came first.
  const { rawBody, body, [RAW_BODY]: read } = req as Kept;
  const kept = await ((event as { _requestBody?: unknown })._requestBody ?? read ?? rawBody);
  return { ...fromNodeRequest(req, { rawBody: kept, body }, RAW_BODY_FIX), signal: sender.signal };
}

const RAW_BODY: unique symbol = Symbol.for('h3RawBody');
type Kept = { rawBody?: unknown; body?: unknown; [RAW_BODY]?: unknown };

/** The web request of h3 2 is `event.req`; in h3 1 that is Node's, in h3 2 on Node the other one is there as well. */
function isOfNode(event: H3EventLike): event is Extract<H3EventLike, { node: unknown }> {
  return !('req' in event && typeof event.req.arrayBuffer === 'function');
}

function statusOf(event: H3EventLike): number {
  return isOfNode(event) ? event.node.res.statusCode : (event.res.status ?? 200);
}
