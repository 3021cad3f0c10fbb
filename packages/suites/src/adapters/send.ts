import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import { check } from 'service-webhooks/option-checks';
import type { ServedApp } from './adapter-under-test.js';

/** A request as a case sends it. */
export interface SentRequest {
  method: string;
  /** The headers in this order. A name may occur twice. */
  headers: readonly (readonly [name: string, value: string])[];
  /** The body: as one array with a declared length, or in pieces without one. */
  body: Uint8Array | readonly Uint8Array[];
  /** The connection breaks after the last piece. */
  broken?: boolean | undefined;
}

export interface SentAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  text: string;
}

export interface Sending {
  /** Resolves when the answer has begun: its status and headers have arrived. */
  begun: Promise<void>;
  answer: Promise<SentAnswer>;
  /** Disconnects without waiting for the answer. */
  hangUp(): void;
}

/** How an answer is read: at once, or only its beginning. */
export interface SendOptions {
  hold?: boolean | undefined;
}

/** Sends a request to an app, over the interface that the app has. */
export function send(app: ServedApp, request: SentRequest, options: SendOptions = {}): Sending {
  if ('port' in app) {
    const { port, path = '/webhooks', http2 } = app;
    return http2 ? overHttp2(port, path, request, options) : overSocket(port, path, request, options);
  }
  if ('fetch' in app) return overFetch((sent) => app.fetch(sent), request, options);
  const { method, headers, body } = request;
  const answer = app
    .call({ method, headers, body: wholeOf(body) })
    .then(({ body: text, ...answered }) => ({ ...answered, text }));
  return toSending(
    answer.then(() => {}),
    answer,
    () => {},
  );
}

/** A case may wait for neither the beginning nor the answer. */
function toSending(begun: Promise<void>, answer: Promise<SentAnswer>, hangUp: () => void): Sending {
  begun.catch(() => {});
  answer.catch(() => {});
  return { begun, answer, hangUp };
}

const NEVER = new Promise<never>(() => {});

function overSocket(
  port: number,
  path: string,
  { method, headers, body, broken }: SentRequest,
  { hold }: SendOptions,
): Sending {
  const http = globalThis.process?.getBuiltinModule?.('http');
  check(http !== undefined, 'serve() must give a fetch where there is no http of Node');
  const framing = body instanceof Uint8Array ? ['Content-Length', `${body.length}`] : ['Transfer-Encoding', 'chunked'];
  const flat = ['Host', 'receiver.test', 'Connection', 'close', ...framing, ...headers.flat()];
  const call = http.request({ host: '127.0.0.1', port, path, method, headers: flat, agent: false });
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    call.on('error', reject); // ignored once there is an answer
    call.on('response', resolve);
  });
  write(call, piecesOf(body)).then(() => (broken ? call.destroy() : call.end()));
  const answer = response.then((received) => (hold ? NEVER : read(received.statusCode, received.headers, received)));
  return toSending(
    response.then(() => {}),
    answer,
    () => call.destroy(),
  );
}

/** Sends over a connection of its own. Leaving resets the stream, and then closes the connection. */
function overHttp2(port: number, path: string, request: SentRequest, { hold }: SendOptions): Sending {
  const http2 = globalThis.process?.getBuiltinModule?.('http2');
  check(http2 !== undefined, 'serve() must give a fetch where there is no http2 of Node');
  const { method, headers, body, broken } = request;
  const length = body instanceof Uint8Array ? { 'content-length': `${body.length}` } : {};
  const session = http2.connect(`http://127.0.0.1:${port}`);
  const stream = session.request({ ':method': method, ':path': path, ...length, ...grouped(headers) });
  const response = new Promise<IncomingHttpHeaders>((resolve, reject) => {
    session.on('error', reject);
    stream.on('error', reject).on('response', resolve);
    stream.on('close', () => {
      session.close();
      reject(new Error('the stream was closed without an answer'));
    });
  });
  const hangUp = () => stream.close(http2.constants.NGHTTP2_CANCEL);
  write(stream, piecesOf(body)).then(() => (broken ? session.destroy() : stream.end()));
  const answer = response.then(({ ':status': status, ...received }) =>
    hold ? NEVER : read(Number(status), received, stream),
  );
  return toSending(
    response.then(() => {}),
    answer,
    hangUp,
  );
}

function grouped(headers: SentRequest['headers']): Record<string, string | string[]> {
  const names = new Set(headers.map(([name]) => name.toLowerCase()));
  const valuesOf = (wanted: string) => headers.filter(([name]) => name.toLowerCase() === wanted).map(([, one]) => one);
  return Object.fromEntries([...names].map((name) => [name, valuesOf(name)]));
}

/** Sends each piece on its own, so that the server has to assemble them. */
async function write(call: Writable, pieces: readonly Uint8Array[]): Promise<void> {
  for (const piece of pieces) await new Promise((written) => call.write(piece, written));
}

async function read(status = 0, headers: IncomingHttpHeaders, body: Readable): Promise<SentAnswer> {
  let text = '';
  for await (const piece of body.setEncoding('utf8')) text += piece;
  return {
    status,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, `${value}`])),
    text,
  };
}

function overFetch(
  fetch: (request: Request) => Response | Promise<Response>,
  request: SentRequest,
  { hold }: SendOptions,
): Sending {
  const { method, headers, body, broken } = request;
  const sender = new AbortController();
  const pieces = [...piecesOf(body)];
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = pieces.shift();
      if (piece !== undefined) return controller.enqueue(piece);
      if (!broken) return controller.close();
      sender.abort();
      controller.error(new Error('the sender has left'));
    },
  });
  const init = {
    method,
    headers: headers.map(([name, value]): [string, string] => [name, value]),
    signal: sender.signal,
    ...(method === 'POST' && { body: stream, duplex: 'half' as const }),
  };
  const response = (async () => fetch(new Request('http://receiver.test/webhooks', init)))();
  const begun = response.then(async ({ body: answered }) => {
    if (!hold) return;
    // As a server does, which reads a body as fast as its sender, and cancels it when that one leaves.
    const reader = answered?.getReader();
    await reader?.read();
    const cancel = () => reader?.cancel();
    if (sender.signal.aborted) cancel();
    sender.signal.addEventListener('abort', cancel);
  });
  const answer = response.then(async (received) => {
    if (hold) return NEVER;
    return { status: received.status, headers: Object.fromEntries(received.headers), text: await received.text() };
  });
  return toSending(begun, answer, () => sender.abort());
}

/** Returns the pieces of a body, none for an empty one. */
function piecesOf(body: SentRequest['body']): readonly Uint8Array[] {
  return body instanceof Uint8Array ? [body].filter(({ length }) => length > 0) : body;
}

function wholeOf(body: SentRequest['body']): Uint8Array {
  return body instanceof Uint8Array ? body : Uint8Array.from(body.flatMap((piece) => [...piece]));
}
