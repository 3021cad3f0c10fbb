import type { RequestListener } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as WebStream } from 'node:stream/web';
import type { AppUnderTest } from 'service-webhooks-suites';
import { type Fetch, handler, middleware, rawBodyFix } from './fetch-app.js';
import { listenNode } from './listen.js';
import { bothForms, type Listening, type Mount } from './mount.js';
import { BY_FETCH } from './play-ending.js';

// Before the Hono server puts its own in this place.
const NativeRequest = globalThis.Request;

const serve = (made: (app: AppUnderTest) => Fetch) => (app: AppUnderTest) => listenNode(bridge(made(app)));

export const mounts: readonly Mount<Listening>[] = bothForms(
  'Fetch on Node',
  { handler: serve(handler), middleware: serve(middleware) },
  { rawBodyFix, endings: BY_FETCH.filter((ending) => ending !== 'sends bytes') }, // the bridge reads one chunk ahead
);

export const calledMounts: readonly Mount[] = bothForms(
  'Fetch',
  { handler: (app) => ({ fetch: handler(app) }), middleware: (app) => ({ fetch: middleware(app) }) },
  { rawBodyFix, endings: BY_FETCH },
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
    const sender = new AbortController();
    res.on('close', () => sender.abort());
    const init = { method, headers, body, signal: sender.signal, duplex: 'half' as const };
    const response = await handle(new NativeRequest(new URL(url, 'http://receiver.test'), init));
    if (response.type === 'error') return void res.destroy();
    res.writeHead(response.status, Object.fromEntries(response.headers));
    if (response.body === null) res.end();
    else await pipeline(Readable.fromWeb(response.body as WebStream), res).catch(() => {}); // the sender has left
  };
}
