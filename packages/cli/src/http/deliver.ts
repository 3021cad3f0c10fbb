import { setTimeout as sleep } from 'node:timers/promises';
import { asSpecified, type DeliveryRequest } from 'service-webhooks/testing';
import { sendRequest } from 'service-webhooks-emulator';
import { connectionProblem, type NoAnswer, tooLate } from './connection-problem.js';
import type { HttpMessage } from './http-message.js';

/** One request to send. */
export interface Outgoing extends Pick<HttpMessage, 'method' | 'headers' | 'body'> {
  url: URL;
  /** Accepts any certificate, as a self-signed one of an app in development. */
  insecure?: boolean | undefined;
  /** Sends the body in pieces over this time, in milliseconds. */
  slowMs?: number | undefined;
  /** Resets the connection after half of the body. */
  breakOff?: boolean | undefined;
}

/** A delivery, and how it is sent. */
export type Sending = DeliveryRequest & Pick<Outgoing, 'slowMs' | 'breakOff' | 'insecure'>;

/** The result of a request: an answer with a status of 200 to 599, or the reason why there is none and what to do. */
export type SendResult = { ms: number } & (
  | { status: number; headers: Readonly<Record<string, string>>; body: string; problem?: undefined; fix?: undefined }
  | ({ status?: undefined } & NoAnswer)
);

export interface DeliverOptions {
  timeoutMs: number;
  signal: AbortSignal;
}

/** The statuses of a final answer of HTTP. The app is another program, and may send others. */
const [MIN_STATUS, MAX_STATUS] = [200, 599];
const PIECES = 8;
const CUT_OFF = 'Its log should show that it has handled nothing.';
/** Gives the other side time to notice that the connection is cut, before the next request. */
const SEEN_BY_MS = 100;
/** Headers that belong to a connection and not to the delivery. */
export const OF_CONNECTION = [
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
  const timer = setTimeout(abort, timeoutMs).unref();
  signal.addEventListener('abort', abort);
  try {
    const result = await exchange(outgoing, timeoutMs, stop.signal);
    if (outgoing.breakOff) await sleep(SEEN_BY_MS);
    signal.throwIfAborted();
    return { ...result, ms: Math.round(performance.now() - begun) };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
    abort(); // an answer may arrive while the body is still being sent slowly
  }
}

/** Sends a delivery, with its header names in the spelling of the service. Rejects only when `signal` is aborted. */
export function deliverAsService(
  { headers, ...sending }: Sending,
  url: URL,
  options: DeliverOptions,
): Promise<SendResult> {
  return deliver({ ...sending, url, headers: asSpecified(headers) }, options);
}

/** Sends a request until `signal` is aborted, which happens after `timeoutMs`. Never rejects. */
async function exchange(outgoing: Outgoing, timeoutMs: number, signal: AbortSignal) {
  const { method, url, body, slowMs, breakOff, insecure = false } = outgoing;
  const request = {
    method,
    url,
    headers: outgoing.headers.filter(([name]) => !OF_CONNECTION.includes(name.toLowerCase())),
    body,
    slow: slowMs === undefined ? undefined : { ms: slowMs, pieces: PIECES },
    reset: breakOff ? ('request' as const) : undefined,
  };
  const time = {
    onPassed: (callback: () => void) => signal.addEventListener('abort', callback),
    async hold(ms: number) {
      await sleep(ms, undefined, { signal }).catch(() => {}); // aborted
      return !signal.aborted;
    },
  };
  try {
    const { answer, failed } = await sendRequest(request, time, { agent: false, rejectUnauthorized: !insecure });
    if (failed === 'timeout') return tooLate(timeoutMs);
    if (answer === undefined) return { problem: 'cut off on purpose, in the middle of the body', fix: CUT_OFF };
    const { status } = answer;
    if (status >= MIN_STATUS && status <= MAX_STATUS) return answer;
    return { problem: `status ${status}, which is no answer of HTTP`, fix: 'Look into the log of the app.' };
  } catch (error) {
    return connectionProblem(error);
  }
}
