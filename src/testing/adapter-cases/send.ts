import type { ClientRequest, IncomingMessage } from 'node:http';
import { check } from '../../option-checks.js';
import { concat } from '../../verify/bytes.js';
import type { ServedApp } from '../adapter-under-test.js';

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
  answer: Promise<SentAnswer>;
  /** Disconnects without waiting for the answer. */
  hangUp(): void;
}

/** Sends a request to an app, over the interface that the app has. */
export function send(app: ServedApp, request: SentRequest): Sending {
  if ('port' in app) return overSocket(app.port, app.path ?? '/webhooks', request);
  if ('fetch' in app) return overFetch((sent) => app.fetch(sent), request);
  const { method, headers, body } = request;
  const called = app.call({ method, headers, body: wholeOf(body) });
  return { answer: called.then(({ body: text, ...answer }) => ({ ...answer, text })), hangUp() {} };
}

function overSocket(port: number, path: string, { method, headers, body, broken }: SentRequest): Sending {
  const http = globalThis.process?.getBuiltinModule?.('http');
  check(http !== undefined, 'serve() must give a fetch where there is no http of Node');
  const framing = body instanceof Uint8Array ? ['Content-Length', `${body.length}`] : ['Transfer-Encoding', 'chunked'];
  const flat = ['Host', 'receiver.test', 'Connection', 'close', ...framing, ...headers.flat()];
  const call = http.request({ host: '127.0.0.1', port, path, method, headers: flat, agent: false });
  const answer = new Promise<SentAnswer>((resolve, reject) => {
    call.on('error', reject); // ignored once there is an answer
    call.on('response', (response) => read(response).then(resolve, reject));
  });
  answer.catch(() => {}); // a case may not wait for the answer
  write(call, piecesOf(body)).then(() => (broken ? call.destroy() : call.end()));
  return { answer, hangUp: () => call.destroy() };
}

/** Sends each piece on its own, so that the server has to assemble them. */
async function write(call: ClientRequest, pieces: readonly Uint8Array[]): Promise<void> {
  for (const piece of pieces) await new Promise((written) => call.write(piece, written));
}

async function read(response: IncomingMessage): Promise<SentAnswer> {
  const { statusCode: status = 0, headers } = response;
  let text = '';
  for await (const piece of response.setEncoding('utf8')) text += piece;
  return {
    status,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, `${value}`])),
    text,
  };
}

function overFetch(fetch: (request: Request) => Response | Promise<Response>, request: SentRequest): Sending {
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
  const answer = (async () => {
    const response = await fetch(new Request('http://receiver.test/webhooks', init));
    return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() };
  })();
  answer.catch(() => {});
  return { answer, hangUp: () => sender.abort() };
}

/** Returns the pieces of a body, none for an empty one. */
function piecesOf(body: SentRequest['body']): readonly Uint8Array[] {
  return body instanceof Uint8Array ? [body].filter(({ length }) => length > 0) : body;
}

function wholeOf(body: SentRequest['body']): Uint8Array {
  return body instanceof Uint8Array ? body : concat(body);
}
