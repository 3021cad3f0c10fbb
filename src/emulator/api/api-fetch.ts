import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { Api } from './api.js';
import { hasBody } from './api-request.js';
import type { ApiServerOptions } from './api-server.js';
import { readBody } from './read-body.js';

/** The API as a Fetch handler. */
export function createApiFetch(api: Api, options: ApiServerOptions): (request: Request) => Promise<Response> {
  return async (request) => {
    const { origin, pathname } = new URL(request.url);
    const { status, headers, body } = await api({
      method: request.method,
      path: pathname,
      headers: Object.fromEntries(request.headers),
      ip: '127.0.0.1',
      baseUrl: options.baseUrl ?? origin,
      readBody: () => readBody(toNode(request.body), options),
    });
    const content = typeof body === 'string' ? body : new Uint8Array(body);
    return new Response(hasBody(status) ? content : null, { status, headers });
  };
}

function toNode(body: Request['body']): Readable {
  return body === null ? Readable.from([]) : Readable.fromWeb(body as ReadableStream);
}
