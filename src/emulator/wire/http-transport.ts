import { lookup } from 'node:dns';
import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest, Agent as TlsAgent } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type { AnswerTime } from './answer-time.js';
import { whatIsAddress } from './public-url.js';
import { MAX_ANSWER_BYTES, piecesOf, type Sent, type Transport, type WireRequest } from './transport.js';

export interface HttpTransportOptions {
  allowLoopback: boolean;
  /** For receivers on https: a certificate authority of one's own. */
  tls?: ConnectionOptions | undefined;
}

/** Well below the 5 s after which Node's servers end an idle connection, so that none is used while it ends. */
const IDLE_MS = 1_000;
/** Of an answer that does not end no more is read than this. */
const MAX_READ_BYTES = 1024 * 1024;

/** HTTP/1.1 over the network. */
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
        const refused = isIP(name) === 0 ? undefined : refuse(name, [name]); // an address is not looked up
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

/** Rejects with what kept the request from being answered. */
function exchange(request: ClientRequest, wire: WireRequest, time: AnswerTime): Promise<Sent> {
  return new Promise((resolve, reject) => {
    let response: IncomingMessage | undefined;
    const kept: Buffer[] = [];
    let size = 0;
    const end = () => {
      const body = Buffer.concat(kept).subarray(0, MAX_ANSWER_BYTES).toString();
      // The status decides: an answer whose body breaks off has been given all the same.
      if (response === undefined) resolve({ failed: 'timeout' });
      else resolve({ answer: { status: response.statusCode ?? 0, headers: namesAndValues(response), body } });
    };
    const cut = () => {
      end();
      request.destroy();
    };

    time.onPassed(cut);
    request.on('error', (error) => response ?? reject(error));
    // After a switch of protocols there is neither an error nor an answer.
    request.on('close', () => response ?? reject(new Error('the connection ended without an answer')));
    request.on('response', (incoming) => {
      response = incoming;
      if (wire.reset === 'answer') {
        reset(request);
        const answer = { status: incoming.statusCode ?? 0, headers: namesAndValues(incoming), body: '' };
        resolve({ answer, failed: 'connection_error', error: 'connection reset' });
      }
      incoming.on('data', (chunk: Buffer) => {
        if (size < MAX_ANSWER_BYTES) kept.push(chunk);
        size += chunk.length;
        if (size > MAX_READ_BYTES) cut();
      });
      incoming.on('error', () => {}); // Node emits none where nobody listens; others do
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

/** The same bytes as a string: Node sends it in one piece with the head, where bytes would take a second. */
function asLatin1({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('latin1');
}

function reset(request: ClientRequest): void {
  const { socket } = request;
  if (socket === null || 'encrypted' in socket) request.destroy();
  else socket.resetAndDestroy();
}

/** In pairs, which Node writes as they are. Names as the specification writes them: `X-Service-Attempt`. */
function headersOf(host: string, { headers, body }: WireRequest): string[] {
  const written = ['Host', host, 'Content-Length', String(body.length)];
  for (const [name, value] of Object.entries(headers)) written.push(asSpecified(name), value);
  return written;
}

/** There are few names, and they come with every request. */
const specified = new Map<string, string>();

function asSpecified(name: string): string {
  let written = specified.get(name);
  if (written === undefined) {
    written = name.replace(/(?<=^|-)[a-z]/g, (letter) => letter.toUpperCase());
    specified.set(name, written);
  }
  return written;
}

function namesAndValues({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

/** Says why a name with these addresses is not sent to; undefined where it is. */
type Guard = (name: string, addresses: readonly string[]) => Error | undefined;

function createGuard(allowLoopback: boolean): Guard {
  const isRefused = (what: string | undefined) => what !== undefined && !(what === 'loopback' && allowLoopback);
  return (name, addresses) => {
    const what = addresses.map(whatIsAddress).find(isRefused);
    return what === undefined ? undefined : new Error(`${name} is not public: ${what}`);
  };
}

/** A name that was public when the endpoint was made may resolve to something else when it is delivered to. */
function guardedLookup(refuse: Guard): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, options, (error, found, family) => {
      const addresses = Array.isArray(found) ? found.map(({ address }) => address) : [found];
      callback(error ?? refuse(hostname, addresses) ?? null, found, family);
    });
  };
}
