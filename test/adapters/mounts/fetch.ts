import type { RequestListener } from 'node:http';
import { Readable } from 'node:stream';
import type { AppUnderTest } from 'service-webhooks/testing';
import { type Fetch, handler, middleware, rawBodyFix } from './fetch-app.js';
import { listenNode } from './listen.js';
import { bothForms, type Listening, type Mount } from './mount.js';

// Before the Hono server puts its own in this place.
const NativeRequest = globalThis.Request;

const serve = (made: (app: AppUnderTest) => Fetch) => (app: AppUnderTest) => listenNode(bridge(made(app)));

export const mounts: readonly Mount<Listening>[] = bothForms(
  'Fetch on Node',
  { handler: serve(handler), middleware: serve(middleware) },
  { rawBodyFix, without: { hangUp: 'the bridge of this test has no signal' } },
);

export const calledMounts: readonly Mount[] = bothForms(
  'Fetch',
  { handler: (app) => ({ fetch: handler(app) }), middleware: (app) => ({ fetch: middleware(app) }) },
  { rawBodyFix },
);

/** A Fetch handler behind node:http, with the runtime's own Request. */
function bridge(handle: Fetch): RequestListener {
  return async (req, res) => {
    // As pairs: Deno drops an empty value where it copies a Headers.
    const headers: [string, string][] = [];
    for (let i = 0; i < req.rawHeaders.length; i += 2) {
      headers.push([req.rawHeaders[i] as string, req.rawHeaders[i + 1] as string]);
    }
    const { method = 'GET', url = '/' } = req;
    const body = method === 'GET' || method === 'HEAD' ? null : Readable.toWeb(req);
    const request = new NativeRequest(new URL(url, 'http://receiver.test'), { method, headers, body, duplex: 'half' });
    const response = await handle(request);
    res.writeHead(response.status, Object.fromEntries(response.headers));
    res.end(Buffer.from(await response.arrayBuffer()));
  };
}
