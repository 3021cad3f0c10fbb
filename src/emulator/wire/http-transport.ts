import { lookup } from 'node:dns';
import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest, Agent as TlsAgent } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { createByteBuffer } from '../../byte-buffer.js';
import { asSpecified } from '../../wire/header-spelling.js';
import type { AnswerTime } from './answer-time.js';
import { kindOfAddress } from './public-url.js';
import { type Answer, MAX_ANSWER_BYTES, piecesOf, type Sent, type Transport, type WireRequest } from './transport.js';

export interface HttpTransportOptions {
  allowLoopback: boolean;
  /** TLS options for receivers on https, such as your own certificate authority. */
  tls?: ConnectionOptions | undefined;
}

/** Well below the time after which Node's servers close an idle connection, so that no request meets a closing one. */
const IDLE_MS = 1_000;
/** The longest answer that is read before the connection is closed. */
const MAX_READ_BYTES = 1024 * 1024;

/** Returns the transport of HTTP/1.1 over the network. */
export function createHttpTransport({ allowLoopback, tls }: HttpTransportOptions): Transport {
  const refuse = createGuard(allowLoopback);
  const connections = { keepAlive: true, timeout: IDLE_MS, lookup: guardedLookup(refuse) };
  const http = new Agent(connections);
  const https = new TlsAgent({ ...tls, ...connections });
  return {
    send: (wire, time) =>
      new Promise((resolve, reject) => {
        const { protocol, hostname, port, host, pathname, search } = new URL(wire.url);
        const name = hostname.replace(/[[\]]/g, '');
        const refused = isIP(name) === 0 ? undefined : refuse(name, [name]); // Node looks up names only
        if (refused !== undefined) throw refused;
        const isSecure = protocol === 'https:';
        const request = (isSecure ? httpsRequest : httpRequest)({
          hostname: name,
          port,
          path: pathname + search,
          method: 'POST',
          headers: headersOf(host, wire),
          agent: isSecure ? https : http,
        });
        exchange(request, wire, time).then(resolve, reject);
      }),
    close() {
      http.destroy();
      https.destroy();
    },
  };
}

/** Rejects with the error that kept the receiver from answering. */
function exchange(request: ClientRequest, wire: WireRequest, time: AnswerTime): Promise<Sent> {
  return new Promise((resolve, reject) => {
    let response: IncomingMessage | undefined;
    const kept = createByteBuffer();
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

    time.onPassed(cut);
    request.on('error', (error) => response ?? reject(error));
    // After a switch of protocols Node emits neither an error nor a response.
    request.on('close', () => response ?? reject(new Error('the connection ended without an answer')));
    request.on('response', (incoming) => {
      response = incoming;
      if (wire.reset === 'answer') {
        reset(request);
        resolve({ answer: answerOf(incoming, ''), failed: 'connection_error', error: 'connection reset' });
      }
      incoming.on('data', (chunk: Buffer) => {
        received += chunk.length;
        kept.append(chunk.subarray(0, MAX_ANSWER_BYTES - kept.size()));
        if (received > MAX_READ_BYTES) cut();
      });
      incoming.on('error', () => {}); // without a listener, other runtimes throw it
      incoming.on('close', end);
    });
    write().catch(reject);

    async function write(): Promise<void> {
      for (const { afterMs, bytes } of piecesOf(wire)) {
        if (afterMs > 0 && !(await time.hold(afterMs))) return cut();
        if (wire.slow === undefined && wire.reset !== 'request') return void request.end(asLatin1(bytes), 'latin1');
        await new Promise<void>((resolve) => request.write(bytes, () => resolve()));
      }
      if (wire.reset !== 'request') return void request.end();
      reset(request);
      throw new Error('connection reset');
    }
  });
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

/** Returns names and values in turn, which Node writes unchanged, in the spelling of the service. */
function headersOf(host: string, { headers, body }: WireRequest): string[] {
  return ['Host', host, 'Content-Length', String(body.length), ...asSpecified(headers).flat()];
}

function answerOf({ statusCode = 0, headers }: IncomingMessage, body: string): Answer {
  const entries = Object.entries(headers).map(([name, value]) => [name, String(value)]);
  return { status: statusCode, headers: Object.fromEntries(entries), body };
}

/** Returns why a name with these addresses is refused; undefined where it is allowed. */
type Guard = (name: string, addresses: readonly string[]) => Error | undefined;

function createGuard(allowLoopback: boolean): Guard {
  const isRefused = (kind: string | undefined) => kind !== undefined && !(kind === 'loopback' && allowLoopback);
  return (name, addresses) => {
    const kind = addresses.map(kindOfAddress).find(isRefused);
    return kind === undefined ? undefined : new Error(`${name} is not public: ${kind}`);
  };
}

/**
 * Returns a lookup that checks each delivery, because a name may resolve differently after the endpoint was created.
 */
function guardedLookup(refuse: Guard): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, options, (error, found, family) => {
      const addresses = Array.isArray(found) ? found.map(({ address }) => address) : [found];
      callback(error ?? refuse(hostname, addresses) ?? null, found, family);
    });
  };
}
