import type {
  Delivery,
  EndpointOptions,
  HandlerContext,
  MiddlewareOptions,
  Receiver,
  WebhookRequest,
  WebhookResponse,
} from 'service-webhooks';
import { checkRoute } from './check-route.js';
import { throughRoute } from './through-route.js';
import { endpointReceiver, middlewareReceiver } from './to-receiver.js';

export type FetchHandler = (request: Request) => Promise<Response>;
export type FetchRoute = (
  request: Request,
  delivery: Delivery,
  context: HandlerContext,
) => Response | Promise<Response>;

/** Returns an endpoint from `Request` to `Response`. `rawBodyFix` says how to keep the raw body in this framework. */
export function fetchHandler(receiverOrOptions: Receiver | EndpointOptions, rawBodyFix: string): FetchHandler {
  const receiver = endpointReceiver(receiverOrOptions);
  return async (request) => toFetchResponse(await receiver(fromFetchRequest(request, rawBodyFix)));
}

/** Returns an endpoint whose `route` makes the `Response` to a verified and claimed delivery. */
export function fetchMiddleware(
  receiverOrOptions: Receiver | MiddlewareOptions,
  route: FetchRoute,
  rawBodyFix: string,
): FetchHandler {
  checkRoute(route);
  const receiver = middlewareReceiver(receiverOrOptions);
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

/** Returns a Fetch `Response`. An empty body becomes null, because a 204 must not even have an empty one. */
export function toFetchResponse({ status, headers, body }: WebhookResponse): Response {
  return new Response(body === '' ? null : body, { status, headers });
}
