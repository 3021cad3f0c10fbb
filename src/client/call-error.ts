import type { Retry } from '../service/api-errors.js';

/** What is known of a call that failed, whoever says so. */
export interface CallFailure {
  /** Of the answer; undefined where there was none. */
  status: number | undefined;
  /** For the service's support. */
  requestId: string | undefined;
  /** Seconds until another try makes sense. */
  retryAfter: number | undefined;
  /** Whether the same request may be sent again (specification, section 7.3). */
  retry: Retry;
  /** Whether it is known that the request has had no effect. */
  nothingDone: boolean;
  /** How often the request was sent. */
  attempts: number;
}

/** What {@link ServiceApiError} and {@link ClientError} have in common. No field of it holds the API key. */
export abstract class CallError extends Error {
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly retryAfter: number | undefined;
  readonly retry: Retry;
  readonly nothingDone: boolean;
  readonly attempts: number;

  constructor(message: string, failure: CallFailure, options?: ErrorOptions) {
    super(message, options);
    this.status = failure.status;
    this.requestId = failure.requestId;
    this.retryAfter = failure.retryAfter;
    this.retry = failure.retry;
    this.nothingDone = failure.nothingDone;
    this.attempts = failure.attempts;
  }
}
