import type {
  Delivery,
  EndpointOptions,
  HandlerContext,
  MiddlewareOptions,
  Receiver,
  WebhookRequest,
  WebhookResponse,
} from 'service-webhooks';
import { answerByRoute, type ReadAnswer } from './answer-by-route.js';
import { checkRoute } from './check-route.js';
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
  return (request) =>
    answerByRoute(
      receiver,
      fromFetchRequest(request, rawBodyFix),
      ({ delivery, context }) => route(request, delivery, context),
      { toAnswer: toFetchResponse, read: readResponse },
    );
}

export function fromFetchRequest(request: Request, rawBodyFix: string): WebhookRequest {
  const { method, headers, bodyUsed, signal } = request;
  const body = bodyUsed ? undefined : (request.body as WebhookRequest['body']);
  return { method, headers, body, signal, rawBodyFix };
}

/** @throws TypeError for a value that is not a Response */
export function readResponse(response: Response): ReadAnswer<Response> {
  if (!isResponse(response))
    throw new TypeError('the route returned no Response: return a Response in every case, such as Response.json({})');
  const { status, body } = response;
  if (status === 204 || status === 205) return { status }; // no body is sent
  return { status, stream: { body, replace: (other) => new Response(other as ReadableStream, response) } };
}

/** Recognises a Response by its members, because one of a polyfill is not an instance of the global class. */
export function isResponse(value: unknown): value is Response {
  const { status, headers, arrayBuffer } = (value ?? {}) as Partial<Response>;
  return typeof status === 'number' && headers !== undefined && typeof arrayBuffer === 'function';
}

/** Returns a Fetch `Response`. An empty body becomes null, because a 204 must not even have an empty one. */
export function toFetchResponse({ status, headers, body }: WebhookResponse): Response {
  return new Response(body === '' ? null : body, { status, headers });
}
