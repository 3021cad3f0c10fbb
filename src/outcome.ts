import type { WebhookError } from './errors.js';
import type { WebhookResponse } from './http.js';
import type { Delivery } from './verify.js';

/** What the receiver decided about a request: exactly one for each. */
export type Answer =
  /** A handler did its work. */
  | { kind: 'handled'; delivery: Delivery; attempt: number; fence: number; status: number; error?: undefined }
  /** Verified, but no handler wants this type of event. */
  | { kind: 'ignored'; delivery: Delivery; error?: undefined }
  /** The event was handled before. */
  | { kind: 'duplicate'; delivery: Delivery; error?: undefined }
  /** Another attempt of the event is being handled at this moment. */
  | { kind: 'in_progress'; delivery: Delivery; retryAfterMs: number; error: WebhookError }
  /** Refused for what came in (`error.code`); with a delivery: its handler threw PermanentError. */
  | { kind: 'rejected'; error: WebhookError; delivery?: Delivery | undefined }
  /** Could not be handled this time: `error.cause` is what was thrown. */
  | { kind: 'failed'; error: WebhookError; delivery?: Delivery | undefined }
  /** The handler is still running; its result is recorded when it comes. */
  | { kind: 'past_deadline'; delivery: Delivery; error: WebhookError };

/** What is worth knowing beside the answer. */
export type Notice =
  /** A handler ended after its deadline. */
  | {
      kind: 'late_result';
      delivery: Delivery;
      result: 'handled' | 'in_progress' | 'rejected' | 'failed';
      error?: WebhookError | undefined;
    }
  /** Another receiver took the event over while this one was at it. */
  | { kind: 'lease_lost'; delivery: Delivery; error?: undefined }
  /** The unsigned Idempotency-Key is another than when the event was first seen. */
  | { kind: 'idempotency_key_mismatch'; delivery: Delivery; error?: undefined }
  /** The signed body is another than when the event was first seen. */
  | { kind: 'payload_mismatch'; delivery: Delivery; error?: undefined }
  /** The payload schema is not the one the types describe. */
  | { kind: 'unknown_version'; delivery: Delivery; error?: undefined }
  /** A call of the store failed or took too long. */
  | {
      kind: 'store_error';
      delivery: Delivery;
      operation: 'claim' | 'extend' | 'complete' | 'release';
      error: unknown;
    };

/** Everything `observe` gets: a discriminated union on `kind`. */
export type Outcome = Answer | Notice;

/** Headers that go with a status. RFC 9110, 15.5.2: a 401 has to name a scheme. */
const HEADERS: Readonly<Record<number, Record<string, string>>> = {
  401: { 'www-authenticate': 'Webhook' },
  405: { allow: 'POST' },
  503: { 'retry-after': '30' },
};

/** The one table from what was decided to what is answered. */
export function toResponse(answer: Answer): WebhookResponse {
  const { kind, error } = answer;
  const status = error?.status ?? (kind === 'handled' ? answer.status : 200);
  const more =
    kind === 'duplicate'
      ? { 'idempotency-replayed': 'true' }
      : kind === 'in_progress'
        ? { 'retry-after': `${Math.max(1, Math.ceil(answer.retryAfterMs / 1000))}` }
        : HEADERS[status];
  // The service's own error object (specification, section 7.1), with one fixed sentence for each code.
  const type = status === 401 ? 'authentication_error' : status < 500 ? 'invalid_request_error' : 'api_error';
  const content =
    error && status >= 400
      ? JSON.stringify({ error: { type, code: error.code, message: `Not accepted: ${error.code}`, status } })
      : `{"outcome":"${kind}"}`;
  const body = status === 204 || status === 205 ? '' : content; // these have none
  return { status, headers: { 'content-type': 'application/json', ...more }, body };
}
