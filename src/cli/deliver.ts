import { type ClientRequest, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpMessage } from './http-file.js';

/** One request over the wire. */
export interface Outgoing extends Pick<HttpMessage, 'method' | 'headers' | 'body'> {
  url: URL;
  /** The body comes in pieces, over so many milliseconds. */
  slowMs?: number | undefined;
  /** The connection is cut when half of the body is sent. */
  breakOff?: boolean | undefined;
}

/** What came of a request: an answer, or the reason why there is none and what to do about it. */
export type Sent =
  | { status: number; headers: Readonly<Record<string, string>>; body: string; ms: number; problem?: undefined }
  | { status?: undefined; problem: string; ms: number };

export interface DeliverOptions {
  timeoutMs: number;
  signal: AbortSignal;
}

/** How long the service waits for an answer (specification, section 8.5). */
export const ANSWER_TIMEOUT_MS = 20_000;
const MAX_ANSWER_BYTES = 64 * 1024;
const PIECES = 8;
/** How long the other side may take to see that the connection is cut, before what comes next. */
const SEEN_BY_MS = 100;
/** What belongs to a connection and not to the delivery. */
const OF_CONNECTION = ['host', 'connection', 'content-length', 'transfer-encoding', 'expect', 'keep-alive', 'upgrade'];

/** Sends the exact bytes, on a connection of its own. Rejects only when `signal` is aborted. */
export async function deliver(outgoing: Outgoing, { timeoutMs, signal }: DeliverOptions): Promise<Sent> {
  signal.throwIfAborted();
  const begun = performance.now();
  const stop = new AbortController();
  const abort = () => stop.abort();
  const timer = setTimeout(abort, timeoutMs);
  signal.addEventListener('abort', abort);
  try {
    const answer = await exchange(outgoing, stop.signal);
    signal.throwIfAborted();
    return { ...answer, ms: since(begun) };
  } catch (error) {
    if (outgoing.breakOff) await sleep(SEEN_BY_MS);
    signal.throwIfAborted();
    const problem = stop.signal.aborted ? `no answer within ${timeoutMs / 1000} s` : inWords(error, outgoing.url);
    return { problem, ms: since(begun) };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

function exchange(outgoing: Outgoing, signal: AbortSignal) {
  const { url, method, body } = outgoing;
  const headers = outgoing.headers.filter(([name]) => !OF_CONNECTION.includes(name.toLowerCase()));
  const framing = ['Host', url.host, 'Content-Length', String(body.length)];
  return new Promise<{ status: number; headers: Record<string, string>; body: string }>((resolve, reject) => {
    const send = url.protocol === 'https:' ? requestHttps : requestHttp;
    const request = send(url, { method, headers: [...framing, ...headers.flat()], agent: false, signal });
    request.on('error', reject);
    request.on('response', (response) => {
      request.off('error', reject).on('error', () => {}); // the status has been given, which is what counts
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        if (size < MAX_ANSWER_BYTES) chunks.push(chunk);
        size += chunk.length;
      });
      response.on('error', () => {});
      response.on('close', () => {
        const text = Buffer.concat(chunks).toString('utf8', 0, MAX_ANSWER_BYTES);
        const single = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
        resolve({ status: response.statusCode ?? 0, headers: Object.fromEntries(single), body: text });
      });
    });
    writeBody(request, outgoing, signal).catch(() => request.destroy());
  });
}

async function writeBody(request: ClientRequest, { body, slowMs, breakOff }: Outgoing, signal: AbortSignal) {
  if (breakOff) {
    await new Promise((resolve) => request.write(body.subarray(0, body.length >> 1), resolve));
    return void request.destroy(new Error('cut off on purpose, in the middle of the body'));
  }
  if (slowMs === undefined) return void request.end(body);
  const size = Math.ceil(body.length / PIECES);
  for (let offset = 0; offset < body.length; offset += size) {
    request.write(body.subarray(offset, offset + size));
    await sleep(slowMs / PIECES, undefined, { signal });
  }
  request.end();
}

const PROBLEMS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there; is the app running, and on that port?',
  ECONNRESET: 'the connection was closed without an answer; look into the log of the app',
  EPIPE: 'the connection was closed without an answer; look into the log of the app',
  ENOTFOUND: 'there is no such host; check the name',
  EAI_AGAIN: 'the name cannot be looked up at the moment; check the network',
  EHOSTUNREACH: 'there is no way to that host; check the network',
  ENETUNREACH: 'there is no way to that network; check the address',
  ETIMEDOUT: 'no connection came about; check the address and the firewall',
  EPROTO: 'no TLS is spoken there; is it http: and not https:?',
  ERR_SSL_WRONG_VERSION_NUMBER: 'no TLS is spoken there; is it http: and not https:?',
};

function inWords(error: unknown, { host }: URL): string {
  const { code = '', message = String(error) } = error as NodeJS.ErrnoException;
  if (/CERT|SIGNED|SIGNATURE/.test(code)) {
    return `${host}: the certificate is not trusted (${code}); name its authority in NODE_EXTRA_CA_CERTS`;
  }
  if (code.startsWith('HPE_')) return `${host}: what came back is no HTTP; check the port`;
  return `${host}: ${PROBLEMS[code] ?? message}`;
}

/** Whole milliseconds. */
function since(begun: number): number {
  return Math.round(performance.now() - begun);
}
