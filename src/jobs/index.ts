export type { JobClaims } from '../dedupe/job-claims.js';
export {
  createJobs,
  type EndedOptions,
  type ExpectOptions,
  type JobStats,
  type Jobs,
  type JobsOptions,
  type ListOptions,
  type OfTenant,
} from './create-jobs.js';
export type { Job } from './job-record.js';
export type { FetchJob, JobsClient, ReadJob } from './job-routes.js';
export type { Reconciliation } from './reconcile.js';
export type { ReconcileOptions } from './reconcile-options.js';
export type { FoundEnd } from './reconciled-delivery.js';
