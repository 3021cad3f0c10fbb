import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { Api } from './api.js';
import { hasBody } from './api-request.js';
import type { HttpServerOptions } from './http-server.js';
import { readBody } from './request-body.js';

/** Answers Fetch requests with the API, without a socket. */
export function createFetchHandler(api: Api, options: HttpServerOptions): (request: Request) => Promise<Response> {
  return async (request) => {
    const { origin, pathname } = new URL(request.url);
    const { status, headers, body } = await api({
      method: request.method,
      path: pathname,
      headers: Object.fromEntries(request.headers),
      ip: '127.0.0.1',
      baseUrl: options.baseUrl ?? origin,
      readBody: () => readBody(toReadable(request.body), options),
    });
    const content = typeof body === 'string' ? body : new Uint8Array(body);
    return new Response(hasBody(status) ? content : null, { status, headers });
  };
}

function toReadable(body: Request['body']): Readable {
  return body === null ? Readable.from([]) : Readable.fromWeb(body as ReadableStream);
}
