import { createByteBuffer } from '../byte-buffer.js';
import { callFailed } from './errors.js';
import type { ReadyOptions } from './options.js';

/** What fetch accepts as a body. */
export type RequestBody = Exclude<RequestInit['body'], undefined>;

/** One HTTP request of a call. */
export interface Attempt {
  method: string;
  url: string;
  /** The path of the URL without its query, as an error may hold it. */
  route: string;
  headers: Record<string, string>;
  body: RequestBody;
  /** The number of this attempt, from 1. */
  attempts: number;
  signal: AbortSignal;
}

/** An HTTP answer that has arrived as a whole. */
export interface Incoming {
  status: number;
  headers: Headers;
  text: string;
  /** Length of the body, in bytes. */
  bytes: number;
}

// Error codes of Node's fetch that mean that the request has not left this machine.
const NEVER_SENT: unknown[] = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'];

/**
 * Sends a request once and reads the answer. An error of fetch is put into words and not passed on, because it may hold
 * the request and so the key.
 *
 * @throws ClientError `no_connection`, `broken_off`, `too_large`
 */
export async function sendOnce(attempt: Attempt, options: ReadyOptions): Promise<Incoming> {
  const { method, url, headers, body, signal } = attempt;
  let response: Response;
  try {
    // A followed redirect would carry the key to its target.
    response = await options.fetch(url, { method, headers, body, redirect: 'manual', signal });
  } catch (error) {
    const { code, words } = describe(error);
    const failure = { retry: 'now', nothingDone: NEVER_SENT.includes(code) } as const;
    throw callFailed(attempt, 'no_connection', options.redact(words), failure);
  }
  return { status: response.status, headers: response.headers, ...(await readBody(response, attempt, options)) };
}

/** Reads the body as UTF-8. */
async function readBody({ status, body }: Response, attempt: Attempt, { maxAnswerBytes, redact }: ReadyOptions) {
  if (body === null) return { text: '', bytes: 0 };
  const reader = body.getReader();
  const buffer = createByteBuffer();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error) => {
        const found = `the answer (status ${status}) ended after ${buffer.size()} bytes: ${redact(describe(error).words)}`;
        throw callFailed(attempt, 'broken_off', found, { status, retry: 'now' });
      });
      if (done) return { text: new TextDecoder().decode(buffer.bytes()), bytes: buffer.size() };
      attempt.signal.throwIfAborted();
      if (buffer.size() + value.length > maxAnswerBytes) {
        const found = `the answer (status ${status}) has more than ${maxAnswerBytes} bytes`;
        throw callFailed(attempt, 'too_large', found, { status });
      }
      buffer.append(value);
    }
  } finally {
    reader.cancel().catch(() => {}); // does nothing where the body has ended
  }
}

/** Node's fetch says what happened in the cause of a TypeError. */
function describe(error: unknown) {
  const { cause = error } = (error ?? {}) as { cause?: unknown };
  const { code, message } = (cause ?? {}) as { code?: unknown; message?: unknown };
  const words = [code, message].filter((part) => typeof part === 'string' && part !== '').join(', ');
  return { code, words: words || 'fetch failed' };
}
