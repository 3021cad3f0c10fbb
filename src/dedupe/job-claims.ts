import type { Delivery } from '../verify/verify.js';
import type { TimeLimit } from './claim.js';
import type { Claim } from './dedupe.js';
import type { Lease } from './lease.js';
import type { DedupeReports } from './notice.js';

/** What a receiver and a worker need of `createJobs`: an event whose handler has returned ends its job. */
export interface JobClaims {
  /**
   * Claims the job of a delivery whose event was acquired, so that no reconciliation of the job runs next to the handler.
   * The lease in the answer also ends the job where its event is handled. Where the event is not to be handled, the lease
   * of the event has ended. Rejects with `store_unavailable`; the event is then released.
   */
  claimJob(delivery: Delivery, lease: Lease, run: JobRun): Promise<Claim>;
}

/** Where a delivery is handled. */
export interface JobRun {
  /** The name of the endpoint. */
  endpoint: string | undefined;
  limit: TimeLimit;
  reports: DedupeReports;
}
