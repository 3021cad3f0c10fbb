import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Duplex, Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { check } from 'service-webhooks/option-checks';
import { isLoopbackHost } from '../wire/public-url.js';
import type { Api } from './api.js';
import { ApiError } from './api-error.js';
import { type ApiAnswer, type ApiRequest, hasBody, type ReadBodyLimits, readBody } from './api-request.js';

/** Serves the API on a port of the loopback interface. */
export interface HttpServer {
  listen(port: number): Promise<Listening>;
  close(): Promise<void>;
}

/** The address of the API. */
export interface Listening {
  readonly url: string;
  readonly port: number;
}

export interface HttpServerOptions extends ReadBodyLimits {
  /** The beginning of links in answers. Default: the server's own address. Requests may name its host. */
  baseUrl: string | undefined;
}

/** How long the rest of a body may still arrive after the answer. */
const DRAIN_MS = 2_000;

export function createHttpServer(api: Api, options: HttpServerOptions): HttpServer {
  let server: Server | undefined;
  let ownUrl = '';
  const baseUrl = () => options.baseUrl ?? ownUrl;

  const serve = async (req: IncomingMessage, res: ServerResponse) => {
    const answer = await api(toApiRequest(req, options, baseUrl()));
    res.writeHead(answer.status, withLength(answer));
    res.end(answer.body);
    if (req.complete) return;
    const timer = setTimeout(() => req.socket.destroy(), DRAIN_MS).unref();
    req.once('close', () => clearTimeout(timer));
    req.resume();
  };

  const onRequest = (req: IncomingMessage, res: ServerResponse) => {
    serve(req, res).catch(() => res.destroy()); // a scripted answer that Node refuses to send
  };

  /** Answers on a socket where Node has no request object. */
  const serveRaw = async (socket: Duplex, method: string, path: string, refusal?: ApiError) => {
    const ip = (socket as Socket).remoteAddress ?? '';
    const readBody = async () => new Uint8Array();
    socket.on('error', () => socket.destroy());
    const answer = await api({ method, path, headers: {}, ip, baseUrl: baseUrl(), readBody, refusal });
    socket.end(toText(answer));
  };

  const onClientError = (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (!socket.writable) return void socket.destroy();
    const code = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'request_timeout' : 'invalid_request';
    serveRaw(socket, '', '', new ApiError(code));
  };

  return {
    async listen(port) {
      check(server === undefined, 'port: the emulator is listening already');
      const isPort = Number.isInteger(port) && port >= 0 && port <= 65_535;
      check(isPort, 'port must be from 0 to 65535; 0 stands for any free port');
      // The API itself answers requests that Node would refuse: see `refusalOf`.
      const created = createServer({ requireHostHeader: false }, onRequest);
      created.on('checkExpectation', onRequest);
      created.on('clientError', onClientError);
      created.on('connect', ({ url = '' }, socket) => serveRaw(socket, 'CONNECT', url));
      server = created;
      await new Promise<void>((resolve, reject) => {
        created.once('error', (error) => {
          server = undefined;
          reject(error);
        });
        created.listen(port, '127.0.0.1', resolve);
      });
      const listening = created.address() as AddressInfo;
      ownUrl = `http://127.0.0.1:${listening.port}`;
      return { url: ownUrl, port: listening.port };
    },
    async close() {
      const closing = server;
      server = undefined;
      await new Promise((resolve) => (closing ? closing.close(resolve).closeAllConnections() : resolve(undefined)));
    },
  };
}

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

function toApiRequest(req: IncomingMessage, options: HttpServerOptions, baseUrl: string): ApiRequest {
  return {
    method: req.method ?? '',
    path: pathOf(req.url ?? ''),
    headers: Object.fromEntries(Object.entries(req.headers).map(([name, value]) => [name, String(value)])),
    ip: req.socket.remoteAddress ?? '',
    baseUrl,
    readBody: () => readBody(req, options),
    refusal: refusalOf(req, baseUrl),
  };
}

/**
 * Returns the refusal of a request that HTTP/1.1 does not allow (RFC 9110, sections 7.2 and 10.1.1) or that names
 * another host.
 */
function refusalOf({ httpVersion, headers }: IncomingMessage, baseUrl: string): ApiError | undefined {
  const { host, expect = '100-continue' } = headers;
  if (host === undefined && httpVersion === '1.1') {
    return new ApiError('invalid_request', 'The Host header is missing.');
  }
  // A browser sends the name of its page, even where that name resolves to this machine.
  if (host !== undefined && !isLoopbackHost(host) && host.toLowerCase() !== new URL(baseUrl).host) {
    return new ApiError('forbidden', 'The Host header names another server. Send requests to 127.0.0.1 or localhost.');
  }
  if (expect.toLowerCase() === '100-continue') return undefined;
  return new ApiError('invalid_request', 'The only expectation that can be met is 100-continue.');
}

/** Returns the path of a request target in any of its forms. */
function pathOf(target: string): string {
  return target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*/, '');
}

function withLength({ status, headers, body }: ApiAnswer): Record<string, string> {
  return hasBody(status) ? { 'content-length': String(Buffer.byteLength(body)), ...headers } : { ...headers };
}

function toText(answer: ApiAnswer): string {
  const headers = { ...withLength(answer), connection: 'close' };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ''}\r\n${lines.join('')}\r\n${answer.body}`;
}
