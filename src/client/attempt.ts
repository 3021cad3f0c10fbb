import { concat } from '../http.js';
import type { CallFailure } from './call-error.js';
import { ClientError, type ClientErrorCode } from './client-error.js';
import type { Incoming } from './incoming.js';
import type { ReadyOptions } from './options.js';
import { readRate } from './rate.js';

/** Whatever fetch sends. */
export type RequestBody = Exclude<RequestInit['body'], undefined>;

/** One try of a request. */
export interface Try {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: RequestBody;
  /** Which one it is, from 1. */
  attempts: number;
  signal: AbortSignal;
}

// Of Node's fetch. With these the request has not left this machine.
const NEVER_SENT: unknown[] = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'];

/**
 * Sends a request once. What fetch throws is put into words and not passed on: it may hold the request, and so the key.
 *
 * @throws ClientError `no_connection`, `broken_off`, `too_large`
 */
export async function attempt(request: Try, options: ReadyOptions): Promise<Incoming> {
  const { method, url, headers, body, signal } = request;
  const { fetch, maxAnswerBytes, redact } = options;
  let response: Response;
  try {
    // Redirects are not followed: whoever they lead to would be sent the key.
    response = await fetch(url, { method, headers, body, redirect: 'manual', signal });
  } catch (error) {
    const { code, words } = describe(error);
    const failure = { retry: 'now', nothingDone: NEVER_SENT.includes(code) } as const;
    throw failed(request, 'no_connection', redact(words), failure);
  }
  const { status } = response;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const reader = response.body?.getReader();
  while (reader !== undefined) {
    const { done, value } = await reader.read().catch((error) => {
      const found = `${status}, ${bytes} bytes, then ${redact(describe(error).words)}`;
      throw failed(request, 'broken_off', found, { status, retry: 'now' });
    });
    if (done) break;
    chunks.push(value);
    bytes += value.length;
    if (bytes > maxAnswerBytes) {
      reader.cancel().catch(() => {});
      throw failed(request, 'too_large', `${status} with more than ${maxAnswerBytes} bytes`, { status });
    }
  }
  const text = new TextDecoder().decode(concat(chunks));
  return { status, headers: response.headers, text, bytes, rate: readRate(response.headers) };
}

/** The error of a try, which begins with what was tried. */
export function failed(
  { method, url, attempts }: Pick<Try, 'method' | 'url' | 'attempts'>,
  code: ClientErrorCode,
  found: string,
  failure?: Partial<CallFailure>,
): ClientError {
  return new ClientError(code, `${method} ${new URL(url).pathname}: ${found}`, { attempts, ...failure });
}

/** Node's fetch says what happened in the cause of a TypeError. */
function describe(error: unknown) {
  const { cause = error } = (error ?? {}) as { cause?: unknown };
  const { code, message } = (cause ?? {}) as { code?: unknown; message?: unknown };
  const words = [code, message].filter((part) => typeof part === 'string' && part !== '').join(', ');
  return { code, words: words || 'fetch failed' };
}
