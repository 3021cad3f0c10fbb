import type { IncomingMessage, ServerResponse } from 'node:http';
import type {
  BegunDelivery,
  Delivery,
  Receiver,
  ReceiverOptions,
  WebhookRequest,
  WebhookResponse,
} from 'service-webhooks';
import { ask } from './ask.js';
import { checkRoute } from './check-route.js';
import { NodeBody } from './node-body.js';
import { isSuccess } from './through-route.js';
import { toReceiver } from './to-receiver.js';

/** Node's request with what frameworks and their parsers put on it. */
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

/** An endpoint on Node's own request and response; `rawBodyFix` is the framework's line against parsed bodies. */
export function nodeHandler(receiverOrOptions: Receiver | ReceiverOptions, rawBodyFix: string): NodeHandler {
  const receiver = toReceiver(receiverOrOptions);
  return async (req, res) => send(res, await receiver(fromNodeRequest(req, req, rawBodyFix)));
}

/** Hands the delivery on as `req.webhook` and settles its claim by how the response really ended. */
export function nodeMiddleware(receiverOrOptions: Receiver | ReceiverOptions, rawBodyFix: string): NodeMiddleware {
  const receiver = toReceiver(receiverOrOptions);
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

/** For what has no `next()`: runs a route with the delivery. */
export function nodeRoute<Req extends NodeRequest, Res extends ServerResponse>(
  receiverOrOptions: Receiver | ReceiverOptions,
  route: (req: Req, res: Res, delivery: Delivery) => unknown,
  rawBodyFix: string,
): (req: Req, res: Res) => Promise<void> {
  checkRoute(route);
  const middleware = nodeMiddleware(receiverOrOptions, rawBodyFix);
  return (req, res) => middleware(req, res, () => route(req, res, req.webhook as Delivery));
}

/**
 * Ends the claim as the response does. False where there is nobody to respond to: the sender left before anything was
 * done, and whoever comes next may start at once.
 */
export function settleWith(res: ServerResponse, begun: BegunDelivery): boolean {
  const socket = res.req?.socket; // not in every imitation
  if (isClosed(res) || socket?.destroyed) {
    begun.settle('failed');
    return false;
  }
  const left = () => begun.settle('unknown'); // only counts where `finish` did not come first
  // Behind another response of its connection it has none yet, and is told of nothing.
  if (!res.socket) socket?.once('close', left);
  res.once('close', left).once('finish', () => {
    socket?.off('close', left);
    if (isSuccess(res.statusCode)) begun.settle('ok');
    else begun.settle('failed', new Error(`the route answered ${res.statusCode}`));
  });
  return true;
}

/** In HTTP/2 only the stream says it. */
function isClosed(res: ServerResponse & { stream?: { closed: boolean } }): boolean | undefined {
  return res.closed ?? res.stream?.closed;
}

/** Where others leave a body: its bytes, and what a parser has made of it. */
type Left = Pick<NodeRequest, 'rawBody' | 'body'>;

/** With the bytes that somebody has kept; the stream while nobody has read from it; else what a parser has left. */
export function fromNodeRequest(req: IncomingMessage, left: Left, rawBodyFix: string): WebhookRequest {
  return { method: ask(req, 'method') ?? '', headers: ask(req, 'headers'), body: bodyOf(req, left), rawBodyFix };
}

function bodyOf(req: IncomingMessage, left: Left): WebhookRequest['body'] {
  const rawBody = ask(left, 'rawBody');
  if (rawBody instanceof Uint8Array || typeof rawBody === 'string') return rawBody;
  if (ask(req, 'readableDidRead')) return left.body as WebhookRequest['body'];
  return new NodeBody(req);
}

/** Tells the length and writes the head: left to `end`, both take eight looks at the response more. */
function send(res: ServerResponse, { status, headers, body }: WebhookResponse): void {
  if (ask(res, 'headersSent') || ask(res, 'destroyed')) return;
  for (const name in headers) res.setHeader(name, headers[name] as string);
  if (status !== 204) res.setHeader('content-length', Buffer.byteLength(body));
  res.writeHead(status);
  res.end(body);
}
