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
import { answerOnNode } from './answer-on-node.js';
import { calledBy } from './called-by.js';
import { sendOnNode } from './send-on-node.js';
import { endpointReceiver, middlewareReceiver, routeReceiver } from './to-receiver.js';

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

/** Makes the answer to a verified and claimed delivery, in a framework without `next()`. */
export type NodeRoute<Req, Res> = (req: Req, res: Res, delivery: Delivery) => unknown;

/** How to keep the raw body in a framework; a function can also name the parser that has read it. */
export type RawBodyFix = string | ((req: IncomingMessage) => string);

/**
 * Returns an endpoint on Node's own request and response. `rawBodyFix` says how to keep the raw body in this framework.
 */
export function nodeHandler(receiverOrOptions: Receiver | EndpointOptions, rawBodyFix: RawBodyFix): NodeHandler {
  const receiver = endpointReceiver(receiverOrOptions);
  return calledBy(['nodeServer'], receiver, async (req: NodeRequest, res: ServerResponse) =>
    sendOnNode(res, await receiver(fromNodeRequest(req, req, rawBodyFix))),
  );
}

/** Returns middleware that sets `req.webhook`, calls `next()` and ends the claim by what was sent. */
export function nodeMiddleware(
  receiverOrOptions: Receiver | MiddlewareOptions,
  rawBodyFix: RawBodyFix,
): NodeMiddleware {
  const receiver = middlewareReceiver(receiverOrOptions);
  return calledBy(['nodeServer'], receiver, async (req: NodeRequest, res: ServerResponse, next: () => unknown) => {
    const route = async ({ delivery }: BegunDelivery) => {
      req.webhook = delivery;
      await next();
    };
    const toAnswer = (response: WebhookResponse) => {
      if (res.headersSent && !res.writableEnded) breakOff(res);
      else sendOnNode(res, response);
    };
    await answerOnNode(receiver, fromNodeRequest(req, req, rawBodyFix), res, route, { toAnswer });
  });
}

/** Breaks off an answer that has begun and cannot be replaced. In HTTP/2, `destroy()` alone would look like its end. */
function breakOff(res: ServerResponse & { stream?: { close(code: number): void } }): void {
  const INTERNAL_ERROR = 2; // of HTTP/2
  if (res.stream) res.stream.close(INTERNAL_ERROR);
  else res.destroy();
}

/** Returns an endpoint that runs a route with the delivery, for frameworks without `next()`. */
export function nodeByRoute<Req extends NodeRequest, Res extends ServerResponse>(
  receiverOrOptions: Receiver | MiddlewareOptions,
  route: NodeRoute<Req, Res>,
  rawBodyFix: string,
): (req: Req, res: Res) => Promise<void> {
  const middleware = nodeMiddleware(routeReceiver(receiverOrOptions, route), rawBodyFix);
  return (req, res) => middleware(req, res, () => route(req, res, req.webhook as Delivery));
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
