import type { DedupeNotice } from '../dedupe/notice.js';
import { ERRORS, type WebhookError, type WebhookErrorCode } from '../errors.js';
import type { Delivery } from '../verify/verify.js';
import type { WebhookResponse } from './request.js';

/** The decision of a receiver about a request: exactly one for each request. */
export type Decision =
  /** A handler did its work. */
  | { kind: 'handled'; delivery: Delivery; attempt: number; fence: number; status: number; error?: undefined }
  /** The queue has stored the delivery, now or before: a worker handles it. */
  | { kind: 'queued' | 'known'; delivery: Delivery; error?: undefined }
  /** The delivery is valid, but this type of event has no handler. */
  | { kind: 'ignored'; delivery: Delivery; error?: undefined }
  /** The event was handled before. */
  | { kind: 'duplicate'; delivery: Delivery; error?: undefined }
  /** Another attempt of the event is being handled. */
  | { kind: 'in_progress'; delivery: Delivery; retryAfterMs: number; error: WebhookError }
  /** The handler threw PermanentError: the delivery is acknowledged, and no retry follows. */
  | { kind: 'discarded'; delivery: Delivery; error: WebhookError }
  /** The request is refused; `error.code` says why. */
  | { kind: 'rejected'; error: WebhookError; delivery?: undefined; unsigned: UnsignedRequest }
  /** The event could not be handled this time; `error.cause` is the error that was thrown. */
  | { kind: 'failed'; error: WebhookError; delivery?: Delivery | undefined }
  /** The handler is still running; a `late_result` follows. */
  | { kind: 'past_deadline'; delivery: Delivery; error: WebhookError };

/** The unverified properties of a refused request: any sender can set them. */
export interface UnsignedRequest {
  webhookId?: string | undefined;
  attempt?: number | undefined;
  /** The length of the body that the request declares, in bytes. */
  contentLength?: number | undefined;
  /** The names of its headers, in lower case, at most 50. */
  headerNames: readonly string[];
}

/** A report next to a decision. */
export type Notice =
  /** A handler ended after its deadline, or a route threw after it had answered or its sender had left. */
  | {
      kind: 'late_result';
      delivery: Delivery;
      result: 'handled' | 'in_progress' | 'discarded' | 'failed';
      error?: WebhookError | undefined;
    }
  /** The payload schema differs from what the types describe. */
  | { kind: 'unknown_version'; delivery: Delivery; error?: undefined }
  /** No delivery was accepted for the time of `silentAfterMs`. */
  | { kind: 'silent'; sinceMs: number; delivery?: undefined; error?: undefined }
  /** From `jobs.reconcile()`: no event has ended a job that is due; once for each job. */
  | {
      kind: 'overdue';
      jobId: string;
      tenant: string | undefined;
      /** The note that `expect()` was given. */
      note: string | undefined;
      /** How long the job has been due, in milliseconds. */
      overdueMs: number;
      delivery?: undefined;
      error?: undefined;
    }
  /** From a worker: the queue no longer retries a delivery, and keeps it until it is retried or discarded. */
  | {
      kind: 'dead_letter';
      /** The type of the event; undefined where the job could not be read. */
      type: string | undefined;
      /** Why the last attempt failed: the text of the error, or that the worker died. */
      reason: string;
      /** Which kind of failure that was; undefined from a worker of another engine that does not say. */
      cause?: DeadLetterCause | undefined;
      /** The number of times the handler was started. */
      attempts: number;
      /** The name of the endpoint that queued it; undefined where the job could not be read. */
      name: string | undefined;
      delivery?: Delivery | undefined;
      error?: undefined;
    }
  | DedupeNotice;

/**
 * Why a delivery became a dead letter: its handler threw a PermanentError, its `data` lacks fields that the types promise,
 * its handler failed in the last attempt, or the worker died in it.
 */
export type DeadLetterCause = 'permanent_failure' | 'unexpected_data' | 'attempts_used' | 'worker_died';

/** The notice of a worker about a dead letter. */
export type DeadLetterNotice = Extract<Notice, { kind: 'dead_letter' }>;

/** The argument of `observe`: a discriminated union on `kind`. */
export type Outcome = Decision | Notice;

/** The kinds of notices. */
export const NOTICES: Record<Notice['kind'], true> = {
  late_result: true,
  lease_lost: true,
  idempotency_key_mismatch: true,
  payload_mismatch: true,
  unknown_version: true,
  silent: true,
  overdue: true,
  dead_letter: true,
  store_error: true,
};

/**
 * Returns whether an outcome is a notice; otherwise it is the decision about a request.
 *
 * @example
 * createReceiver({
 *   secret,
 *   on,
 *   observe: (outcome) => (isNotice(outcome) ? notices : requests).inc({ kind: outcome.kind }),
 * });
 */
export function isNotice(outcome: Outcome): outcome is Notice {
  return Object.hasOwn(NOTICES, outcome.kind);
}

/** Returns the answer to a decision. */
export function toResponse(decision: Decision): WebhookResponse {
  switch (decision.kind) {
    case 'handled':
      return acknowledge(decision.kind, decision.status);
    case 'queued':
    case 'known':
      return acknowledge(decision.kind, 202);
    case 'ignored':
    case 'discarded':
      return acknowledge(decision.kind, 200);
    case 'duplicate':
      return acknowledge(decision.kind, 200, { 'idempotency-replayed': 'true' });
    case 'in_progress':
      return refuse(decision.error, { 'retry-after': String(Math.max(1, Math.ceil(decision.retryAfterMs / 1000))) });
    case 'rejected':
    case 'failed':
    case 'past_deadline':
      return refuse(decision.error, HEADERS[decision.error.status]);
  }
}

/** RFC 9110 requires a scheme with 401 and the allowed methods with 405. */
const HEADERS: Readonly<Record<number, Record<string, string>>> = {
  401: { 'www-authenticate': 'Webhook' },
  405: { allow: 'POST' },
  503: { 'retry-after': '30' },
};

function acknowledge(outcome: Decision['kind'], status: number, headers = {}): WebhookResponse {
  const body = status === 204 || status === 205 ? '' : JSON.stringify({ outcome }); // these have no body
  return { status, headers: { 'content-type': 'application/json', ...headers }, body };
}

/** The symbol under which a response has its error, for a test that fails. No adapter sends it. */
export const REFUSED_WITH: unique symbol = Symbol.for('service-webhooks.refused-with');

/** Returns the service's own error object, with one fixed sentence for each code. */
function refuse(error: WebhookError, headers = {}): WebhookResponse {
  const { code, status } = error;
  const type = status === 401 ? 'authentication_error' : status < 500 ? 'invalid_request_error' : 'api_error';
  // An error of another version of the package may have a code that is unknown here.
  const message = ERRORS[code as WebhookErrorCode]?.message ?? code;
  const body = JSON.stringify({ error: { type, code, message, status } });
  const response = { status, headers: { 'content-type': 'application/json', ...headers }, body };
  return Object.defineProperty(response, REFUSED_WITH, { value: error }); // not enumerable, so that no copy contains it
}
