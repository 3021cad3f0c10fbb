import type { IncomingMessage, ServerResponse } from 'node:http';
import type {
  BegunDelivery,
  Delivery,
  EndpointOptions,
  MiddlewareOptions,
  Receiver,
  WebhookRequest,
  WebhookResponse,
} from 'service-webhooks';
import { checkRoute } from './check-route.js';
import { isSuccess } from './through-route.js';
import { endpointReceiver, middlewareReceiver } from './to-receiver.js';

/** Node's request with the fields that frameworks and their parsers add. */
export interface NodeRequest extends IncomingMessage {
  body?: unknown;
  rawBody?: unknown;
  webhook?: Delivery | undefined;
}

export type NodeHandler = (req: NodeRequest, res: ServerResponse) => Promise<void>;
export type NodeMiddleware = (
  req: NodeRequest,
  res: ServerResponse,
  next: (error?: unknown) => unknown,
) => Promise<void>;

/** How to keep the raw body in a framework; a function can also name the parser that has read it. */
export type RawBodyFix = string | ((req: IncomingMessage) => string);

/**
 * Returns an endpoint on Node's own request and response. `rawBodyFix` says how to keep the raw body in this framework.
 */
export function nodeHandler(receiverOrOptions: Receiver | EndpointOptions, rawBodyFix: RawBodyFix): NodeHandler {
  const receiver = endpointReceiver(receiverOrOptions);
  return async (req, res) => send(res, await receiver(fromNodeRequest(req, req, rawBodyFix)));
}

/** Returns middleware that sets `req.webhook` and settles the claim by how the response ended. */
export function nodeMiddleware(
  receiverOrOptions: Receiver | MiddlewareOptions,
  rawBodyFix: RawBodyFix,
): NodeMiddleware {
  const receiver = middlewareReceiver(receiverOrOptions);
  return async (req, res, next) => {
    const begun = await receiver.begin(fromNodeRequest(req, req, rawBodyFix));
    if ('response' in begun) return send(res, begun.response);
    if (!settleWith(res, begun)) return;
    req.webhook = begun.delivery;
    try {
      await next();
    } catch (error) {
      const response = await begun.settle('failed', error);
      if (res.headersSent) res.destroy();
      else send(res, response);
    }
  };
}

/** Returns an endpoint that runs a route with the delivery, for frameworks without `next()`. */
export function nodeRoute<Req extends NodeRequest, Res extends ServerResponse>(
  receiverOrOptions: Receiver | MiddlewareOptions,
  route: (req: Req, res: Res, delivery: Delivery) => unknown,
  rawBodyFix: string,
): (req: Req, res: Res) => Promise<void> {
  checkRoute(route);
  const middleware = nodeMiddleware(receiverOrOptions, rawBodyFix);
  return (req, res) => middleware(req, res, () => route(req, res, req.webhook as Delivery));
}

/**
 * Settles the claim when the response ends. Returns false, after releasing the claim, where the sender has already
 * disconnected: no work has started, so the next attempt may run at once.
 */
export function settleWith(res: ServerResponse, begun: BegunDelivery): boolean {
  const socket = res.req?.socket; // some imitations of a response have no request
  if (isClosed(res) || socket?.destroyed) {
    begun.settle('failed');
    return false;
  }
  const left = () => begun.settle('unknown'); // after `finish` it has no effect
  // A pipelined response has no socket yet, and emits no `close` when its connection ends.
  if (!res.socket) socket?.once('close', left);
  res.once('close', left).once('finish', () => {
    socket?.off('close', left);
    if (isSuccess(res.statusCode)) begun.settle('ok');
    else begun.settle('failed', new Error(`the route answered ${res.statusCode}`));
  });
  return true;
}

/** In HTTP/2, only the stream reports it. */
function isClosed(res: ServerResponse & { stream?: { closed: boolean } }): boolean | undefined {
  return res.closed ?? res.stream?.closed;
}

/** Where other code leaves a body: its bytes, and the value that a parser derived from it. */
type Leftovers = Pick<NodeRequest, 'rawBody' | 'body'>;

/** Returns the bytes that other code has kept, the stream if it is unread, or else the value that a parser has left. */
export function fromNodeRequest(req: IncomingMessage, leftovers: Leftovers, fix: RawBodyFix): WebhookRequest {
  const { method = '', headers } = req;
  const rawBodyFix = typeof fix === 'string' ? fix : fix(req);
  return { method, headers, body: bodyOf(req, leftovers), rawBodyFix };
}

function bodyOf(req: IncomingMessage, { rawBody, body }: Leftovers): WebhookRequest['body'] {
  if (rawBody instanceof Uint8Array || typeof rawBody === 'string') return rawBody;
  return req.readableDidRead ? (body as WebhookRequest['body']) : req;
}

function send(res: ServerResponse, { status, headers, body }: WebhookResponse): void {
  if (res.headersSent || res.destroyed) return;
  const length = status === 204 ? {} : { 'content-length': Buffer.byteLength(body) };
  res.writeHead(status, { ...headers, ...length }).end(body);
}
