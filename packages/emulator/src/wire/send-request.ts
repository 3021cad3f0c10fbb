import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import type { RequestTime } from './answer-time.js';
import { createFirstBytes } from './first-bytes.js';
import { type Answer, MAX_ANSWER_BYTES, piecesOf, type Sent, type WireRequest } from './transport.js';

/** Headers in the order and spelling in which they are sent. Each character stands for one byte. */
export type HeaderPairs = readonly (readonly [name: string, value: string])[];

/** A request that is sent as it is: Host and Content-Length first, then these headers, then exactly the body. */
export interface HttpRequest extends Pick<WireRequest, 'body' | 'slow' | 'reset'> {
  readonly method: string;
  readonly url: URL;
  readonly headers: HeaderPairs;
}

/** The longest answer that is read before the connection is closed. */
const MAX_READ_BYTES = 1024 * 1024;

/**
 * Sends exactly these bytes over HTTP/1.1, as the emulator sends its deliveries, and returns the answer with the first
 * 64 KiB of its body. No redirect is followed. Every status is an answer. If the time for the answer ends before, `failed`
 * is `'timeout'`; where `reset` cut the connection, it is `'connection_error'`.
 *
 * @param connection The agent and the check of certificates, as `request` of node:https takes them.
 * @throws Error (as a rejection) the error of the connection that kept the receiver from answering
 * @example
 * const time = { onPassed: (stop: () => void) => setTimeout(stop, 20_000).unref(), hold: async () => true };
 * const headers = asSpecified(delivery.headers);
 * const sent = await sendRequest({ method: 'POST', url: new URL(url), headers, body: delivery.body }, time);
 * console.log(sent.answer?.status ?? sent.failed);
 */
export function sendRequest(
  sending: HttpRequest,
  time: RequestTime,
  connection: Pick<RequestOptions, 'agent' | 'rejectUnauthorized'> = {},
): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const request = open(sending, connection);
    let response: IncomingMessage | undefined;
    const kept = createFirstBytes(MAX_ANSWER_BYTES);
    let received = 0;
    const end = () => {
      // The status decides, so an answer whose body breaks off is no failure.
      if (response === undefined) resolve({ failed: 'timeout' });
      else resolve({ answer: answerOf(response, Buffer.from(kept.bytes()).toString()) });
    };
    const cut = () => {
      end();
      request.destroy();
    };
    const fail = (error: Error) => {
      if (response === undefined) reject(error);
    };

    time.onPassed(cut);
    request.on('error', fail);
    // After a switch of protocols Node emits neither an error nor a response.
    request.on('close', () => fail(unanswered()));
    request.on('response', (incoming) => {
      response = incoming;
      if (sending.reset === 'answer') {
        reset(request);
        resolve({ answer: answerOf(incoming, ''), ...RESET });
      }
      incoming.on('data', (chunk: Buffer) => {
        received += chunk.length;
        kept.append(chunk);
        if (received > MAX_READ_BYTES) cut();
      });
      incoming.on('error', () => {}); // without a listener, other runtimes throw it
      incoming.on('close', end);
    });
    write().catch(fail);

    async function write(): Promise<void> {
      for (const { afterMs, bytes } of piecesOf(sending)) {
        if (afterMs > 0 && !(await time.hold(afterMs))) return cut();
        if (sending.slow === undefined && sending.reset !== 'request') {
          return void request.end(asLatin1(bytes), 'latin1');
        }
        await writePiece(request, bytes);
      }
      if (sending.reset !== 'request') return void request.end();
      await writePiece(request, new Uint8Array(0)); // sends the headers, also where half of the body is nothing
      reset(request);
      resolve(RESET);
    }
  });
}

const RESET = { failed: 'connection_error', error: 'connection reset' } as const;

/** Returns the error of a connection that closed without one, with the code that Node uses for a reset. */
function unanswered(): Error {
  return Object.assign(new Error('the connection ended without an answer'), { code: 'ECONNRESET' });
}

function open({ method, url, headers, body }: HttpRequest, connection: RequestOptions): ClientRequest {
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  // Node writes names and values in turn unchanged.
  const written = ['Host', url.host, 'Content-Length', String(body.length), ...headers.flat()];
  return send(url, { ...connection, method, headers: written });
}

/** Rejects with the error of the connection, which may be known here before the request reports it. */
function writePiece(request: ClientRequest, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => request.write(bytes, (error) => (error ? reject(error) : resolve())));
}

/** Returns the same bytes as a string, which Node writes together with the head in one packet. */
function asLatin1({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('latin1');
}

function reset(request: ClientRequest): void {
  const { socket } = request;
  if (socket === null || 'encrypted' in socket) request.destroy();
  else socket.resetAndDestroy();
}

function answerOf({ statusCode = 0, headers }: IncomingMessage, body: string): Answer {
  const entries = Object.entries(headers).map(([name, value]) => [name, String(value)]);
  return { status: statusCode, headers: Object.fromEntries(entries), body };
}
