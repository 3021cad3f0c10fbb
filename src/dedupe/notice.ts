import type { Background } from '../background.js';
import type { Delivery } from '../verify/verify.js';

/** The notices of dedupe, next to the decision about a request. */
export type DedupeNotice =
  /** Another receiver claimed the event while this one was working on it. */
  | { kind: 'lease_lost'; delivery: Delivery; error?: undefined }
  /** The unsigned Idempotency-Key differs from the one with which the event was first seen. */
  | { kind: 'idempotency_key_mismatch'; delivery: Delivery; error?: undefined }
  /** The signed event, apart from its timestamp, differs from the event first seen under this id. */
  | { kind: 'payload_mismatch'; delivery: Delivery; error?: undefined }
  /** A call of the store failed or took too long. */
  | {
      kind: 'store_error';
      delivery: Delivery;
      operation: 'claim' | 'extend' | 'complete' | 'release';
      error: unknown;
    };

/** Where dedupe reports its notices, and passes what it does after the response. */
export interface DedupeReports {
  notify(notice: DedupeNotice): void;
  background: Background;
}
