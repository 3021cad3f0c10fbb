import type { Readable } from 'node:stream';
import { WebhookError, type WebhookRequest } from 'service-webhooks';
import { ANSWER_TIMEOUT_MS } from 'service-webhooks/service';
import { drainBody } from '../../http/drain-body.js';
import { type HttpMessage, headerValue } from '../../http/http-message.js';
import { bodyTooLarge, readBody } from '../../http/read-body.js';
import { type BodyShare, UNVERIFIED_BODIES } from './request-limits.js';

/** A request before its body is read. */
export interface IncomingRequest extends Pick<WebhookRequest, 'method' | 'signal'> {
  /** Path and query. */
  path: string;
  headers: HttpMessage['headers'];
  body: Readable;
  /** When it arrived, in milliseconds since the epoch. */
  at: number;
}

export interface BodyLimits {
  maxBytes: number;
  /** Counts the body while it arrives, and stays taken until the caller releases it. */
  share: BodyShare;
}

const LIMIT_MIB = UNVERIFIED_BODIES / 1024 / 1024;

/** The error of a body for which there is no room now. */
export const NO_ROOM = new Error(
  `A request was not read: listen holds ${LIMIT_MIB} MiB of requests that it has not verified, which is its limit. ` +
    'Look for a sender that floods it. The service retries its deliveries.',
);

/** Reads the exact bytes. @throws WebhookError (as a rejection), NO_ROOM */
export async function readMessage(
  request: IncomingRequest,
  { maxBytes, share }: BodyLimits,
  stop: AbortSignal,
): Promise<HttpMessage> {
  const { method, path, headers, body, signal } = request;
  const refusal = refusalUnread(request, maxBytes);
  if (refusal) {
    drainBody(body);
    throw refusal;
  }
  const full = new AbortController();
  const count = (chunk: Uint8Array) => {
    if (!share.take(chunk.length)) full.abort();
  };
  try {
    body.on('data', count);
    const gone = AbortSignal.any([stop, full.signal, ...(signal ? [signal] : [])]);
    const bytes = await readBody(body, { maxBytes, timeoutMs: ANSWER_TIMEOUT_MS, signal: gone });
    return { method, path, headers, body: bytes };
  } catch (error) {
    throw full.signal.aborted ? NO_ROOM : error;
  } finally {
    body.off('data', count);
  }
}

/** Returns why a request is refused before its body is read. */
function refusalUnread({ method, headers }: IncomingRequest, maxBytes: number): WebhookError | undefined {
  if (method !== 'POST') return new WebhookError('method_not_allowed');
  return Number(headerValue(headers, 'content-length')) > maxBytes ? bodyTooLarge(maxBytes) : undefined;
}
