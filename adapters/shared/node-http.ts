import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Delivery, Receiver, ReceiverOptions, WebhookRequest, WebhookResponse } from 'service-webhooks';
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
  return async (req, res) => send(res, await receiver(toRequest(req, rawBodyFix)));
}

/** Hands the delivery on as `req.webhook` and settles its claim by how the response really ended. */
export function nodeMiddleware(receiverOrOptions: Receiver | ReceiverOptions, rawBodyFix: string): NodeMiddleware {
  const receiver = toReceiver(receiverOrOptions);
  return async (req, res, next) => {
    const begun = await receiver.begin(toRequest(req, rawBodyFix));
    if ('response' in begun) return send(res, begun.response);
    // The sender left before anything was done: whoever comes next may start at once.
    if (res.closed) return void (await begun.settle('failed'));
    res.once('finish', () => {
      if (res.statusCode >= 200 && res.statusCode <= 299) begun.settle('ok');
      else begun.settle('failed', new Error(`the route answered ${res.statusCode}`));
    });
    res.once('close', () => begun.settle('unknown')); // only counts where `finish` did not come first
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

function toRequest(req: NodeRequest, rawBodyFix: string): WebhookRequest {
  return { method: req.method ?? '', headers: req.headers, body: bodyOf(req) as WebhookRequest['body'], rawBodyFix };
}

/** The stream while nobody has read from it; then whatever the one who did has left. */
function bodyOf(req: NodeRequest): unknown {
  if (req.rawBody instanceof Uint8Array || typeof req.rawBody === 'string') return req.rawBody;
  return req.readableDidRead ? req.body : { [Symbol.asyncIterator]: () => chunks(req) };
}

/** The chunks of a request. Node's own iterator gives the same, for about twice the cost. */
function chunks(req: NodeRequest): AsyncIterator<Uint8Array> {
  let wake = () => {};
  // These stay: an `error` that nobody listens to would end the process.
  for (const event of ['readable', 'end', 'close', 'error']) req.on(event, () => wake());
  return {
    async next() {
      for (;;) {
        const value: Uint8Array | null = req.read();
        if (value !== null) return { done: false, value };
        if (req.readableEnded) return { done: true, value: undefined };
        if (req.destroyed) throw new Error('the upload was aborted');
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    async return() {
      req.destroy();
      return { done: true, value: undefined };
    },
  };
}

function send(res: ServerResponse, { status, headers, body }: WebhookResponse): void {
  if (res.headersSent || res.destroyed) return;
  res.statusCode = status;
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  res.end(body);
}
