import {
  type Delivery,
  type HandlerContext,
  type Receiver,
  type ReceiverOptions,
  WebhookError,
  type WebhookRequest,
} from 'service-webhooks';
import { toFetchResponse } from './shared/fetch-api.js';
import { toReceiver } from './shared/to-receiver.js';

const RAW_BODY_FIX = 'Give the receiver the request before anything reads its body, or a request.clone() made in time.';

/**
 * An endpoint for every runtime that speaks Fetch (Workers, Deno, Bun, Next and more): verifies, deduplicates,
 * dispatches, answers. Never rejects.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`, when it is made.
 * @example
 * export const POST = webhookHandler({ secret, on: { 'stt.completed': (event) => save(event.jobId) } });
 */
export function webhookHandler(receiverOrOptions: Receiver | ReceiverOptions): (request: Request) => Promise<Response> {
  const receiver = toReceiver(receiverOrOptions);
  return async (request) => toFetchResponse(await receiver(toRequest(request)));
}

/**
 * Verifies and claims, then lets `route` make the response: a 2xx completes the claim, any other, or a throw (500),
 * releases it; if the sender has left by then, the lease decides. The body has been read: `delivery.body` has it.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`, when it is made.
 * @example
 * export const POST = webhookMiddleware({ secret }, async (request, { event }) => {
 *   await save(event);
 *   return new Response(null, { status: 204 });
 * });
 */
export function webhookMiddleware(
  receiverOrOptions: Receiver | ReceiverOptions,
  route: (request: Request, delivery: Delivery, context: HandlerContext) => Response | Promise<Response>,
): (request: Request) => Promise<Response> {
  if (typeof route !== 'function') {
    throw new WebhookError('invalid_option', 'Give webhookMiddleware a route as its second argument.', 'route');
  }
  const receiver = toReceiver(receiverOrOptions);
  return async (request) => {
    const begun = await receiver.begin(toRequest(request));
    if ('response' in begun) return toFetchResponse(begun.response);
    try {
      const response = await route(request, begun.delivery, begun.context);
      const ended = request.signal.aborted ? 'unknown' : response.ok ? 'ok' : 'failed';
      await begun.settle(ended, new Error(`the route answered ${response.status}`));
      return response;
    } catch (error) {
      return toFetchResponse(await begun.settle('failed', error));
    }
  };
}

function toRequest(request: Request): WebhookRequest {
  return {
    method: request.method,
    headers: request.headers,
    body: request.bodyUsed ? undefined : (request.body as WebhookRequest['body']),
    signal: request.signal,
    rawBodyFix: RAW_BODY_FIX,
  };
}
