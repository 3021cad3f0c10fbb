import type { Delivery } from '../verify/verify.js';
import type { TimeLimit } from './claim.js';
import type { Claim } from './dedupe.js';
import type { Lease } from './lease.js';
import type { DedupeReports } from './notice.js';

/** What a receiver and a worker need of `createJobs`: an event whose handler has returned ends its job. */
export interface JobClaims {
  /**
   * Returns the function that claims jobs for the handlers of an endpoint.
   *
   * @throws WebhookError `invalid_option` for an endpoint without a name, where other processes share the store
   */
  claimsFor(endpoint: string | undefined): ClaimJob;
}

/**
 * Claims the job of a delivery whose event was acquired, so that no reconciliation of the job runs next to the handler. The
 * lease in the answer also ends the job where its event is handled. Where the event is not to be handled, the lease of the
 * event has ended. Rejects with `store_unavailable`; the event is then released.
 */
export type ClaimJob = (delivery: Delivery, lease: Lease, run: JobRun) => Promise<Claim>;

/** How a claim of a job is limited, and where it reports. */
export interface JobRun {
  limit: TimeLimit;
  reports: DedupeReports;
  /** How long it waits while another process works on the job, in milliseconds. */
  waitMs: number;
  /** Ends the wait: it rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
  /** Of an event that a reconciliation made: the time of the `expect()` that it is for. */
  expectedAt?: number | undefined;
}
