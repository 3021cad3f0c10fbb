import type {
  Delivery,
  HandlerContext,
  Receiver,
  ReceiverOptions,
  WebhookRequest,
  WebhookResponse,
} from 'service-webhooks';
import { checkRoute } from './check-route.js';
import { throughRoute } from './through-route.js';
import { toReceiver } from './to-receiver.js';

export type FetchHandler = (request: Request) => Promise<Response>;
export type FetchRoute = (
  request: Request,
  delivery: Delivery,
  context: HandlerContext,
) => Response | Promise<Response>;

/** An endpoint from `Request` to `Response`; `rawBodyFix` is the framework's line against bodies that were read. */
export function fetchHandler(receiverOrOptions: Receiver | ReceiverOptions, rawBodyFix: string): FetchHandler {
  const receiver = toReceiver(receiverOrOptions);
  return async (request) => toFetchResponse(await receiver(fromFetchRequest(request, rawBodyFix)));
}

/** Lets `route` make the `Response` to what is verified and claimed. */
export function fetchMiddleware(
  receiverOrOptions: Receiver | ReceiverOptions,
  route: FetchRoute,
  rawBodyFix: string,
): FetchHandler {
  checkRoute(route);
  const receiver = toReceiver(receiverOrOptions);
  const form = { statusOf: ({ status }: Response) => status, toAnswer: toFetchResponse };
  return (request) =>
    throughRoute(
      receiver,
      fromFetchRequest(request, rawBodyFix),
      ({ delivery, context }) => route(request, delivery, context),
      form,
    );
}

export function fromFetchRequest(request: Request, rawBodyFix: string): WebhookRequest {
  const { method, headers, bodyUsed, signal } = request;
  const body = bodyUsed ? undefined : (request.body as WebhookRequest['body']);
  return { method, headers, body, signal, rawBodyFix };
}

/** A Fetch `Response`; one without a body gets none, since 204 may not even have an empty one. */
export function toFetchResponse({ status, headers, body }: WebhookResponse): Response {
  return new Response(body === '' ? null : body, { status, headers });
}
