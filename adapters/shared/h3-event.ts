import type { IncomingMessage, ServerResponse } from 'node:http';
import type { WebhookRequest } from 'service-webhooks';
import { fromFetchRequest } from './fetch-api.js';
import { fromNodeRequest } from './node-http.js';
import { watchBody } from './watch-body.js';
import type { OnResponseEnd } from './watch-response.js';

/** The fields that the adapter reads from an event of h3 2 or h3 1. */
export type H3EventLike = { req: Request; res: { status?: number | undefined } } | NodeEvent;

interface NodeEvent {
  node: { req: IncomingMessage; res: ServerResponse };
}

/** Takes the request out of an event, with the bytes that the app has kept of its body. */
export async function fromH3Event(event: H3EventLike, rawBodyFix: string): Promise<WebhookRequest> {
  if (!isVersion1(event)) return fromFetchRequest(event.req, rawBodyFix);
  const { req } = event.node;
  // Where h3 1 looks for a body, in its order: without a server of Node the request is an imitation, and its stream is empty.
  const { _requestBody, web } = event as Imitated;
  const { [RAW_BODY]: read, rawBody, body } = req as Kept;
  const kept = await (_requestBody ?? web?.request?.body ?? read ?? rawBody ?? body);
  const { method = '', headers } = req;
  if (web?.request?.bodyUsed) return { method, headers, body: undefined, rawBodyFix };
  if (isBody(kept)) return { method, headers, body: kept, rawBodyFix };
  return fromNodeRequest(req, { body: kept }, rawBodyFix);
}

/** Returns Node's own response, which an event of h3 2 has on Node too. */
export function responseOf(event: H3EventLike): ServerResponse | undefined {
  return (event as Partial<NodeEvent>).node?.res;
}

/**
 * Without a server of Node, h3 1 imitates a response. It puts a stream into `_data`, from where it is read after the
 * response has lost its listeners.
 */
export function watchImitated(res: ServerResponse & { _data?: unknown }, onEnd: OnResponseEnd): void {
  if (!('_data' in res)) return;
  let data = res._data;
  Object.defineProperty(res, '_data', {
    configurable: true,
    get: () => data,
    set(value: unknown) {
      data = watchBody(value, async (ended) => onEnd(ended === 'ok')) ?? value;
    },
  });
}

const RAW_BODY: unique symbol = Symbol.for('h3RawBody');
/** The bodies that h3 1, its platforms and parsers keep. Those of `readBody` and `readRawBody` are promises. */
type Kept = { [RAW_BODY]?: unknown; rawBody?: unknown; body?: unknown };
type Imitated = { _requestBody?: unknown; web?: { request?: { body?: unknown; bodyUsed?: boolean } } };

function isBody(kept: unknown): kept is Uint8Array | string | AsyncIterable<Uint8Array> {
  if (typeof kept === 'string' || kept instanceof Uint8Array) return true;
  return typeof (kept as AsyncIterable<unknown> | undefined | null)?.[Symbol.asyncIterator] === 'function';
}

/** `event.req` is the web request in h3 2 and Node's request in h3 1; on Node, h3 2 has both. */
function isVersion1(event: H3EventLike): event is NodeEvent {
  return !('req' in event && typeof event.req.arrayBuffer === 'function');
}
