import type { IncomingMessage } from 'node:http';
import type { Context } from 'hono';
import type { WebhookRequest } from 'service-webhooks';

/** The bodies that a middleware of this library has read, by their requests. */
const readBodies = new WeakMap<Request, Uint8Array>();

/** Keeps a body that was read, for the route and for another middleware of this library. */
export function keepHonoBody({ req }: Context, body: Uint8Array): void {
  readBodies.set(req.raw, body);
  // Hono reads its own cache first, so that the route can still call c.req.json() and the like.
  Object.assign(req.bodyCache, { arrayBuffer: Promise.resolve(new Uint8Array(body).buffer) });
}

/** Returns the request of a context, whose body may have been read before. */
export async function fromHonoRequest(c: Context, rawBodyFix: string): Promise<WebhookRequest> {
  const { raw } = c.req;
  const incoming = untouchedIncoming(c);
  if (incoming) return { method: raw.method, headers: incoming.headers, body: incoming, rawBodyFix };
  const body = (await bodyOf(c)) as WebhookRequest['body'];
  return { method: raw.method, headers: raw.headers, body, signal: raw.signal, rawBodyFix };
}

/**
 * Returns Node's own request on @hono/node-server while no code has read the Fetch request around it. Building that
 * Fetch request is the most expensive part of a delivery, and its stream then reads from Node's request.
 */
function untouchedIncoming({ env, req: { raw } }: Context): IncomingMessage | undefined {
  const incoming: IncomingMessage | undefined = env?.incoming;
  if (incoming?.readableFlowing !== null) return undefined;
  // The server's own request has another prototype than one that a middleware has put in its place.
  const isOwn = Object.getPrototypeOf(raw) !== Request.prototype;
  // @hono/node-server has no public way to ask this; the names of its symbols are the only trace.
  const isBuilt = Object.getOwnPropertySymbols(raw).some(({ description }) => description === 'requestCache');
  return isOwn && !isBuilt ? incoming : undefined;
}

/**
 * Returns a body that was kept, the stream, or the body that Hono has cached. Cached text is safe: if it is not the exact
 * bytes, no signature matches.
 */
async function bodyOf({ req: { raw, bodyCache } }: Context): Promise<unknown> {
  const kept = readBodies.get(raw);
  if (kept) return kept;
  if (!raw.bodyUsed) return raw.body;
  return Promise.resolve(bodyCache.arrayBuffer ?? bodyCache.text).catch(() => undefined);
}
