import { type ClientRequest, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { createByteBuffer } from '../byte-buffer.js';
import { connectionProblem } from './connection-problem.js';
import type { HttpMessage } from './http-message.js';

/** One request to send. */
export interface Outgoing extends Pick<HttpMessage, 'method' | 'headers' | 'body'> {
  url: URL;
  /** Accepts any certificate, as a self-signed one of an app in development. */
  insecure?: boolean | undefined;
  /** Sends the body in pieces over this time, in milliseconds. */
  slowMs?: number | undefined;
  /** Cuts the connection after half of the body. */
  breakOff?: boolean | undefined;
}

/** The result of a request: an answer with a status of 200 to 599, or the reason why there is none and what to do. */
export type SendResult =
  | { status: number; headers: Readonly<Record<string, string>>; body: string; ms: number; problem?: undefined }
  | { status?: undefined; problem: string; ms: number };

export interface DeliverOptions {
  timeoutMs: number;
  signal: AbortSignal;
}

const MAX_ANSWER_BYTES = 64 * 1024;
/** The longest answer that is read before the connection is closed. */
const MAX_READ_BYTES = 1024 * 1024;
/** The statuses of a final answer. The app is another program, and Node refuses to write others. */
const [MIN_STATUS, MAX_STATUS] = [200, 599];
const NOT_ANSWERED = 'the connection was closed without an answer; look into the log of the app';
const PIECES = 8;
/** Gives the other side time to notice that the connection is cut, before the next request. */
const SEEN_BY_MS = 100;
/** Headers that belong to a connection and not to the delivery. */
const OF_CONNECTION = [
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'trailer',
  'expect',
  'keep-alive',
  'upgrade',
];

/** Sends the exact bytes, on a new connection. Rejects only when `signal` is aborted. */
export async function deliver(outgoing: Outgoing, { timeoutMs, signal }: DeliverOptions): Promise<SendResult> {
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
    const problem = stop.signal.aborted
      ? `no answer within ${timeoutMs / 1000} s`
      : `${outgoing.url.host}: ${connectionProblem(error)}`;
    return { problem, ms: since(begun) };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

function exchange(outgoing: Outgoing, signal: AbortSignal) {
  const { url, method, body, insecure = false } = outgoing;
  const headers = outgoing.headers.filter(([name]) => !OF_CONNECTION.includes(name.toLowerCase()));
  const framing = ['Host', url.host, 'Content-Length', String(body.length)];
  return new Promise<{ status: number; headers: Record<string, string>; body: string }>((resolve, reject) => {
    const send = url.protocol === 'https:' ? requestHttps : requestHttp;
    const request = send(url, {
      method,
      headers: [...framing, ...headers.flat()],
      agent: false,
      signal,
      rejectUnauthorized: !insecure,
    });
    let hasAnswer = false;
    request.on('error', (error) => hasAnswer || reject(error)); // the status decides, once it has arrived
    // After a switch of protocols Node emits neither an error nor a response.
    request.on('close', () => hasAnswer || reject(new Error(NOT_ANSWERED)));
    request.on('response', (response) => {
      hasAnswer = true;
      const status = response.statusCode ?? 0;
      if (status < MIN_STATUS || status > MAX_STATUS) {
        response.destroy();
        return reject(new Error(`status ${status}, which is no answer of HTTP; look into the log of the app`));
      }
      const kept = createByteBuffer();
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        kept.append(chunk.subarray(0, MAX_ANSWER_BYTES - kept.size()));
        size += chunk.length;
        if (size > MAX_READ_BYTES) response.destroy();
      });
      response.on('error', () => {});
      response.on('close', () => {
        const single = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
        resolve({ status, headers: Object.fromEntries(single), body: Buffer.from(kept.bytes()).toString() });
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

/** Returns whole milliseconds. */
function since(begun: number): number {
  return Math.round(performance.now() - begun);
}
