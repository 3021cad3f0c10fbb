import { claimKey } from '../dedupe/claim.js';
import type { Claim } from '../dedupe/dedupe.js';
import type { JobClaims, JobRun } from '../dedupe/job-claims.js';
import { type Lease, retryLater, STORE_TIMEOUT_MS, startLease } from '../dedupe/lease.js';
import { jobRunKey } from '../endpoint.js';
import { WebhookError } from '../errors.js';
import { initOnce } from '../init-once.js';
import { check } from '../option-checks.js';
import type { DedupeStore } from '../stores/contract.js';
import { withTimeout } from '../timers.js';
import type { Delivery } from '../verify/verify.js';
import type { JobBook, JobName } from './job-book.js';
import { endingOf, type JobContent, reconciledAt, withEnding, withReconciled, withTwin } from './job-record.js';

/** What claims of jobs work on. */
export interface ClaimsOf {
  store: DedupeStore;
  book: JobBook;
  leaseMs: number;
  /** Called with a job whose ending was recorded. */
  ended(name: JobName): void;
}

type Notify = JobRun['reports']['notify'];

const decoder = new TextDecoder();
/** Rows of claims need not outlive their leases: what is remembered of a job is in its record. */
const RETAIN_LEASES = 10;

/**
 * Returns the claims of jobs in a store. One claim at a time runs the handler of a type of event about a job, for a webhook
 * as for a reconciliation. While it is held, the record of the job decides whether the handler runs.
 */
export function jobClaims({ store, book, leaseMs, ended }: ClaimsOf): JobClaims['claimsFor'] {
  const initialise = initOnce(() => store.init?.());
  const retainMs = RETAIN_LEASES * leaseMs;

  /** Claims the right to run the handler. */
  async function claimRun(delivery: Delivery, endpoint: string, { limit, reports }: JobRun): Promise<Claim> {
    const key = await jobRunKey(endpoint, delivery);
    const token = crypto.randomUUID().split('-').join('');
    const request = { key, token, fingerprint: 'job', leaseMs, retainMs };
    try {
      if (store.init) await initialise(Math.min(STORE_TIMEOUT_MS, limit.remaining()));
      const { result, unanswered } = await claimKey(store, request, limit, reports.background);
      if (result.status !== 'acquired') return result;
      const claim = { ...request, fence: result.fence };
      const settings = { leaseMs, retainMs };
      const lease = startLease({ delivery, store, claim, attempt: result.attempt, unanswered }, settings, reports);
      return { status: 'acquired', lease };
    } catch (cause) {
      reports.notify({ kind: 'store_error', delivery, operation: 'claim', error: cause });
      throw new WebhookError('store_unavailable', { cause });
    }
  }

  /** Returns whether the event was handled before, as the twin of an event that was made or made itself. */
  async function wasHandled(name: JobName, delivery: Delivery, endpoint: string): Promise<boolean> {
    const { id, type } = delivery.event;
    const isMade = delivery.scheme === 'reconciled';
    const { job } = await book.read(await book.keyOf(name));
    if (isMade && endingOf(job) !== undefined) return true;
    const made = reconciledAt(job, endpoint, type);
    if (made === undefined || isMade) return made !== undefined;
    if (made.twin !== undefined) return made.twin === id;
    await book.change(name, (now) => {
      const current = reconciledAt(now, endpoint, type);
      return current ? withTwin(now, current, id) : now;
    });
    return true;
  }

  /** Returns how the record of a job gets the event; resolves to whether it has it. */
  function recorder(name: JobName, delivery: Delivery, endpoint: string, notify: Notify): () => Promise<boolean> {
    const { event, body, scheme } = delivery;
    const { type } = event;
    const text = decoder.decode(body); // before the handler, which may change the delivery
    const withEvent = (job: JobContent, at: number) => {
      if (scheme !== 'reconciled') return withEnding(job, { type, body: text, at });
      if (reconciledAt(job, endpoint, type)) return job;
      return withReconciled(withEnding(job, { type, body: text, at, reconciled: true }), { endpoint, type });
    };
    return async () => {
      try {
        await withTimeout(STORE_TIMEOUT_MS, () => book.change(name, withEvent));
      } catch (error) {
        notify({ kind: 'store_error', delivery, operation: 'complete', error });
        return false;
      }
      ended(name);
      return true;
    };
  }

  async function claimJob(endpoint: string, delivery: Delivery, lease: Lease, run: JobRun): Promise<Claim> {
    const { event, tenant } = delivery;
    if (event.jobId === null) return { status: 'acquired', lease };
    const name: JobName = { jobId: event.jobId, tenant };
    const { notify, background } = run.reports;
    const record = recorder(name, delivery, endpoint, notify);
    let right: Claim | undefined;
    try {
      right = await claimRun(delivery, endpoint, run);
      if (right.status !== 'acquired') {
        await lease.release();
        return right;
      }
      if (await wasHandled(name, delivery, endpoint)) {
        await right.lease.release();
        await lease.complete('not_handled');
        return { status: 'completed' };
      }
    } catch (error) {
      if (right?.status === 'acquired') await right.lease.release();
      await lease.release();
      throw error;
    }
    return { status: 'acquired', lease: joined(lease, right.lease, record, background) };
  }

  return (endpoint) => {
    check(
      endpoint !== undefined || store.scope === 'process',
      'jobs on a store that other processes share need the name of the endpoint: dedupe.name in the receiver, and the same name in reconcile()',
    );
    return (delivery, lease, run) => claimJob(endpoint ?? 'default', delivery, lease, run);
  };
}

/**
 * Returns the lease of an event and of the right to run its handler. The record of the job is written first: a process
 * that dies before the event is completed leaves a job that has ended, and its retry is recognised by the inbox or runs
 * the handler again, as after any such death.
 */
function joined(
  lease: Lease,
  right: Lease,
  recorded: () => Promise<boolean>,
  background: JobRun['reports']['background'],
): Lease {
  const { attempt, fence } = lease.fence === 0 ? right : lease;
  return {
    attempt,
    fence,
    async complete(as) {
      const isRecorded = as === 'not_handled' || (await recorded());
      await lease.complete(as);
      // Until the record has the event, no reconciliation may run the handler.
      if (isRecorded) await right.release();
      else background(retryLater(recorded).then(() => right.release()));
    },
    async release() {
      await right.release();
      await lease.release();
    },
    abandon() {
      right.abandon();
      lease.abandon();
    },
  };
}
