import { printable } from '../printable.js';
import {
  type ApiErrorCode,
  type ApiErrorType,
  type CanonicalCode,
  canonicalCode,
  LEGACY_RATE_LIMIT,
  type Retry,
} from '../service/api-errors.js';

/** The details of a call that failed. */
export interface CallFailure {
  /** HTTP status of the answer; undefined where none arrived. */
  status: number | undefined;
  /** The id of the request, which the service's support asks for. */
  requestId: string | undefined;
  /** Seconds to wait before the next attempt, from 0 to 86 400; undefined where the answer named none. */
  retryAfter: number | undefined;
  /** Whether and when the same request may be sent again. */
  retry: Retry;
  /** Whether the request is known to have had no effect. */
  nothingDone: boolean;
  /** The number of times the request was sent. */
  attempts: number;
}

/**
 * What {@link ServiceApiError} and {@link ClientError} have in common. No field holds the API key where a server has
 * repeated it, also in its usual escapes, and control characters in `message` are escaped.
 */
export abstract class CallError extends Error {
  /** The stable, machine-readable code of the error: branch on this. */
  abstract readonly code: string;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly retryAfter: number | undefined;
  readonly retry: Retry;
  readonly nothingDone: boolean;
  readonly attempts: number;

  constructor(message: string, failure: CallFailure, options?: ErrorOptions) {
    super(printable(message), options);
    this.status = failure.status;
    this.requestId = failure.requestId;
    this.retryAfter = failure.retryAfter;
    this.retry = failure.retry;
    this.nothingDone = failure.nothingDone;
    this.attempts = failure.attempts;
  }

  /** Returns every field together with `message`, which `JSON.stringify` leaves out of an error otherwise. */
  toJSON(): object {
    return { ...this, message: this.message };
  }
}

/** What to do about each error of the client. */
const HINTS = {
  no_connection: 'Check baseUrl, and that this machine can reach the service.',
  timed_out: 'Raise timeoutMs, or ask for less.',
  limit_reached: 'Try again after the window resets, or raise timeoutMs above the wait.',
  redirected: 'The client follows no redirect, because that would send the API key along. Set baseUrl to the target.',
  broken_off: 'A proxy between this machine and the service may have closed the connection: check its timeouts.',
  too_large: 'Raise maxAnswerBytes if you expect an answer of this size.',
  not_json: 'A proxy or another server may have answered in place of the service: check baseUrl.',
  unexpected_answer: 'If this persists, look at the answer itself: client.request() returns it without checking it.',
  outcome_unknown:
    'Find the endpoint with client.webhooks.list() and delete it, because its signing secret is lost. Then run again.',
  link_expired: 'If you know a route that returns the result, pass its path.',
  link_not_found: 'If you know where the link is, pass path and linkIn.',
} as const;

/** A code of {@link ClientError}. Each has a row in `docs/client.md`. */
export type ClientErrorCode = keyof typeof HINTS;

const NOTHING_KNOWN: CallFailure = {
  status: undefined,
  requestId: undefined,
  retryAfter: undefined,
  retry: 'never',
  nothingDone: false,
  attempts: 0,
};

// `Symbol.for`, so that an error of another copy of the package (ESM next to CommonJS) is recognised too.
const CLIENT_ERROR: unique symbol = Symbol.for('service-webhooks.client-error');
const SERVICE_API_ERROR: unique symbol = Symbol.for('service-webhooks.service-api-error');

/**
 * The client received no answer, or an answer that is not the service's. `message` says what happened and what to do,
 * and ends with the code.
 *
 * @example
 * try {
 *   await client.account.apiLimits();
 * } catch (error) {
 *   if (isClientError(error) && error.code === 'no_connection') console.warn('The service cannot be reached.');
 * }
 */
export class ClientError extends CallError {
  override readonly name: string = 'ClientError';
  readonly code: ClientErrorCode;
  /** What to do about the error: the last part of `message`. */
  readonly hint: string;
  readonly [CLIENT_ERROR] = true;

  /** `found` says what happened, as a whole sentence. */
  constructor(code: ClientErrorCode, found: string, failure?: Partial<CallFailure>, options?: ErrorOptions) {
    super(`${found} ${HINTS[code]} (${code})`, { ...NOTHING_KNOWN, ...failure }, options);
    this.code = code;
    this.hint = HINTS[code];
  }
}

/** Returns the error of a call: its message begins with the route, and `found` completes it. */
export function callFailed(
  call: { method: string; route: string; attempts: number },
  code: ClientErrorCode,
  found: string,
  failure?: Partial<CallFailure>,
): ClientError {
  const { method, route, attempts } = call;
  return new ClientError(code, `${method} ${route} failed: ${found}.`, { attempts, ...failure });
}

/** The error object of the service, as far as it arrived. */
export interface ErrorObject {
  type: ApiErrorType | (string & {});
  code: string;
  message: string;
  docUrl: string | undefined;
  param: string | undefined;
}

/**
 * The service refused the request or failed, and answered with its error object. `message` is the service's own.
 * `docs/client.md` lists the codes.
 *
 * @example
 * async function jobOrUndefined(id: string) {
 *   try {
 *     return await client.dubbing.job(id);
 *   } catch (error) {
 *     if (isServiceApiError(error) && error.is('not_found')) return undefined;
 *     throw error;
 *   }
 * }
 */
export class ServiceApiError extends CallError {
  override readonly name: string = 'ServiceApiError';
  /** The category of the error. An unknown category is kept as it arrived. */
  readonly type: ApiErrorType | (string & {});
  /**
   * The code of the error, without aliases: `internal_error` also for `server_error`. An unknown code is kept as it
   * arrived.
   */
  readonly code: CanonicalCode | (string & {});
  declare readonly status: number;
  /** The address of the service's page about the code. */
  readonly docUrl: string | undefined;
  /** The parameter that failed validation. */
  readonly param: string | undefined;
  readonly [SERVICE_API_ERROR] = true;

  constructor(error: ErrorObject, failure: CallFailure & { status: number }) {
    super(error.message, failure);
    this.type = error.type;
    this.code = canonicalCode(error.code);
    this.docUrl = error.docUrl;
    this.param = error.param;
  }

  /**
   * Returns whether the error has this code, by any of its names: `rate_limited` is `rate_limit_exceeded`,
   * `server_error` is `internal_error`, and the legacy `rate_limit` is each of the four codes that replace it.
   */
  is(code: ApiErrorCode): boolean {
    if (code === 'rate_limit') return LEGACY_RATE_LIMIT.includes(this.code);
    return this.code === canonicalCode(code);
  }
}

/**
 * Returns whether a value is a {@link ClientError}, including one of another copy of this package. Never throws.
 *
 * @example
 * if (isClientError(error)) console.warn(error.code, error.hint);
 */
export function isClientError(value: unknown): value is ClientError {
  return isBranded(value, CLIENT_ERROR);
}

/**
 * Returns whether a value is a {@link ServiceApiError}, including one of another copy of this package. Never throws.
 *
 * @example
 * if (isServiceApiError(error) && error.is('rate_limited')) console.log(`Retry in ${error.retryAfter} s.`);
 */
export function isServiceApiError(value: unknown): value is ServiceApiError {
  return isBranded(value, SERVICE_API_ERROR);
}

function isBranded(value: unknown, brand: symbol): boolean {
  try {
    return value instanceof Error && (value as Error & { [brand: symbol]: unknown })[brand] === true;
  } catch {
    return false; // a proxy whose traps throw
  }
}
