import { check, checkChoice, checkKnownOptions, checkObject, checkPositiveInteger } from '../option-checks.js';
import { orAborted, withTimeLimit } from '../timers.js';
import { type Answer, readAnswer } from './answer.js';
import type { Shape } from './answer-data.js';
import { type RequestBody, sendOnce } from './attempt.js';
import { CallError, callFailed } from './errors.js';
import { createLimiter } from './limiter.js';
import type { ReadyOptions } from './options.js';
import { type RateState, readRate } from './rate-limits.js';

/** How one call may end early. */
export interface CallOptions {
  /** Ends the call as soon as it is aborted. The call rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Time limit of the call including its retries and waits, in milliseconds. Default: that of the client. */
  timeoutMs?: number | undefined;
}

/** A request to any route of the API. */
export interface ClientRequest extends CallOptions {
  /** The HTTP method. Default: `GET`. */
  method?: string | undefined;
  /** The path after `baseUrl`, with a query if there is one: `/v1/voices`. */
  path: string;
  /** The body, which is written as JSON. FormData, a Blob and bytes are sent unchanged. */
  body?: unknown;
  /**
   * Whether sending the request twice does the same as sending it once, so that it may be sent again where the outcome
   * of the first attempt is unknown. Default: true for GET, HEAD, OPTIONS, PUT and DELETE, otherwise false.
   */
  repeatable?: boolean | undefined;
}

/** A request without the options of its call. */
export interface RouteRequest extends Omit<ClientRequest, keyof CallOptions> {
  /** The documented fields of the answer. */
  shape?: Shape;
}

export type SendRequest = <T = unknown>(request: RouteRequest, options?: CallOptions) => Promise<Answer<T>>;

/** A checked request. */
interface Call {
  method: string;
  url: string;
  route: string;
  headers: Record<string, string>;
  body: RequestBody;
  repeatable: boolean;
  signal: AbortSignal | undefined;
  timeoutMs: number;
}

/**
 * Returns the function that every call of the client uses. It checks the request, waits for the limiter, sends the
 * request, reads the answer, and retries where a retry may help.
 */
export function createSendRequest(options: ReadyOptions, onRate: (rate: RateState) => void): SendRequest {
  const { now, random, sleep, maxAttempts } = options;
  const waitForTurn = options.limiter ? createLimiter(options) : undefined;

  async function sendRequest(request: RouteRequest, callOptions: CallOptions = {}): Promise<Answer> {
    const call = readCall(request, callOptions, options);
    const deadline = now() + call.timeoutMs;
    let attempts = 0;
    const outOfTime = (code: 'timed_out' | 'limit_reached', found: string) =>
      callFailed({ ...call, attempts }, code, found, { nothingDone: attempts === 0 });
    const timedOut = () => outOfTime('timed_out', `no answer in ${call.timeoutMs} ms`);
    const tooLong = (ms: number) => outOfTime('limit_reached', `the limit leaves no request for ${ms} ms`);

    async function attempt(signal: AbortSignal): Promise<Answer> {
      const recordAnswer = await waitForTurn?.({ deadline, tooLong, signal });
      attempts += 1;
      const current = { ...call, attempts, signal };
      let rate: RateState | undefined;
      let blockedMs: number | undefined;
      try {
        const incoming = await orAborted(sendOnce(current, options), signal);
        rate = readRate(incoming.headers, options.redact);
        if (rate !== undefined) onRate(rate);
        return readAnswer(incoming, current, options, request.shape);
      } catch (error) {
        if (error instanceof CallError && error.retry === 'later') blockedMs = (error.retryAfter ?? 0) * 1000;
        throw error;
      } finally {
        recordAnswer?.(rate, blockedMs);
      }
    }

    return withTimeLimit({ ms: call.timeoutMs, timedOut, signal: call.signal }, async (signal) => {
      for (;;) {
        try {
          return await attempt(signal);
        } catch (error) {
          const ms = error instanceof CallError ? waitBeforeRetry(error, call.repeatable, random) : undefined;
          if (ms === undefined || attempts >= maxAttempts || now() + ms >= deadline) throw error;
          await sleep(ms, signal);
          signal.throwIfAborted();
        }
      }
    });
  }

  return sendRequest as SendRequest;
}

const REPEATABLE = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'];

/** @throws WebhookError `invalid_option` */
function readCall(request: RouteRequest, callOptions: CallOptions, options: ReadyOptions): Call {
  checkObject('options', callOptions);
  checkKnownOptions('the options of a call', callOptions, ['signal', 'timeoutMs']);
  const { signal, timeoutMs = options.timeoutMs } = callOptions;
  check(signal === undefined || signal instanceof AbortSignal, 'signal must be an AbortSignal');
  checkPositiveInteger('timeoutMs', timeoutMs);
  const { method: name = 'GET', path, body } = request;
  check(typeof name === 'string' && /^[a-z]+$/i.test(name), 'method must be like GET');
  check(typeof path === 'string' && path.startsWith('/'), 'path must begin with a slash');
  check(
    options.redact(path, path.length) === path,
    'path must not hold the key, which the service reads from a header only',
  );
  const method = name.toUpperCase();
  const { repeatable = REPEATABLE.includes(method) } = request;
  checkChoice('repeatable', repeatable, [true, false]);
  // The header for the key that the service documents for webhook management.
  const headers = { accept: 'application/json', 'x-api-key': options.apiKey };
  const url = options.baseUrl + path;
  const route = options.redact(new URL(url).pathname);
  const common = { method, url, route, repeatable, signal, timeoutMs };
  if (body === undefined) return { ...common, headers, body: null };
  if (isSentUnchanged(body)) return { ...common, headers, body };
  return { ...common, headers: { ...headers, 'content-type': 'application/json' }, body: toJson(body) };
}

/** Returns an id as one segment of a path. @throws WebhookError `invalid_option` */
export function segment(name: string, id: unknown): string {
  // A dot segment would lead to another route, and half of a surrogate pair cannot be encoded.
  check(typeof id === 'string' && !['', '.', '..'].includes(id) && !/\p{Surrogate}/u.test(id), `${name} must be an id`);
  return encodeURIComponent(id);
}

function isSentUnchanged(body: unknown): body is FormData | Blob | ArrayBuffer | Uint8Array<ArrayBuffer> {
  return [FormData, Blob, ArrayBuffer].some((kind) => body instanceof kind) || ArrayBuffer.isView(body);
}

function toJson(body: unknown): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(body);
  } catch {} // a cycle, a BigInt, or a toJSON that throws
  check(json !== undefined, 'body cannot be written as JSON');
  return json;
}

/** The first wait lies between half of this and this, in milliseconds. Each further wait is twice as long. */
const BASE_MS = 500;
const MAX_BACKOFF_MS = 16_000;

/** Returns the milliseconds to wait before the request is sent again, or undefined where it must not be sent again. */
function waitBeforeRetry(error: CallError, repeatable: boolean, random: () => number): number | undefined {
  const { retry, retryAfter, nothingDone, attempts } = error;
  if (retry !== 'now' && retry !== 'later') return undefined;
  if (!repeatable && !nothingDone) return undefined;
  const backoff = Math.min(MAX_BACKOFF_MS, BASE_MS * 2 ** (attempts - 1)) * (0.5 + random() / 2);
  // The jitter prevents that clients that wait for the same window return in the same millisecond.
  return retryAfter === undefined ? backoff : Math.max(backoff, retryAfter * 1000 + random() * BASE_MS);
}
