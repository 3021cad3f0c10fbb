import { claimKey } from '../dedupe/claim.js';
import type { Claim } from '../dedupe/dedupe.js';
import type { JobClaims, JobRun } from '../dedupe/job-claims.js';
import { type Lease, retryLater, startLease } from '../dedupe/lease.js';
import { STORE_TIMEOUT_MS } from '../dedupe/store-call.js';
import { newToken } from '../dedupe/token.js';
import { jobRunKey, MIN_RETAIN_MS } from '../endpoint.js';
import { WebhookError } from '../errors.js';
import { initOnce } from '../init-once.js';
import { check } from '../option-checks.js';
import type { DedupeStore } from '../stores/contract.js';
import { sleep, stopwatch, withTimeout } from '../timers.js';
import type { Delivery } from '../verify/verify.js';
import type { JobBook, JobName } from './job-book.js';
import { isWaitedFor, type JobContent, reconciledAt, withEnding, withReconciled, withTwin } from './job-record.js';

/** What claims of jobs work on. */
export interface ClaimsOf {
  store: DedupeStore;
  book: JobBook;
  leaseMs: number;
  /** Called with the key of a job whose record has changed. */
  changed(key: string): void;
}

const decoder = new TextDecoder();
/** How long a claim waits before it asks again whether another process still works on the job. */
const MAX_PAUSE_MS = 250;
/** While the store cannot record an end, in milliseconds: often, because a reconciliation goes on as soon as it can. */
const RECORD_DELAYS_MS = [1_000, 2_000, ...Array<number>(120).fill(5_000)];
/** Rows of claims need not outlive their leases: what is remembered of a job is in its record. */
const RETAIN_LEASES = 10;

/**
 * Returns the claims of jobs in a store. One claim at a time runs the handler of a type of event about a job, for a webhook
 * as for a reconciliation. While it is held, the record of the job decides whether the handler runs.
 */
export function jobClaims({ store, book, leaseMs, changed }: ClaimsOf): JobClaims['claimsFor'] {
  const initialise = initOnce(() => store.init?.());
  const retainMs = RETAIN_LEASES * leaseMs;

  /** Claims the right to run the handler. */
  async function claimRun(delivery: Delivery, endpoint: string, run: JobRun): Promise<Claim> {
    const elapsed = stopwatch();
    for (;;) {
      const claim = await claimRunOnce(delivery, endpoint, run);
      if (claim.status !== 'in_progress' || elapsed() >= run.waitMs) return claim;
      await sleep(Math.min(claim.retryAfterMs, MAX_PAUSE_MS, run.waitMs), run.signal);
    }
  }

  async function claimRunOnce(delivery: Delivery, endpoint: string, { limit, reports }: JobRun): Promise<Claim> {
    const key = await jobRunKey(endpoint, delivery);
    const request = { key, token: newToken(), fingerprint: 'job', leaseMs, retainMs };
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
      throw new WebhookError('store_unavailable', {
        message: 'The store of the jobs failed, and the event was not handled.',
        hint: 'Fix error.cause: the event is tried again.',
        cause,
      });
    }
  }

  /** Returns whether the handler must not run: the event was handled before, or a made one is no longer waited for. */
  async function isDone(name: JobName, delivery: Delivery, endpoint: string, run: JobRun): Promise<boolean> {
    const { id, type } = delivery.event;
    const { job, now } = await book.read(await book.keyOf(name));
    if (delivery.scheme === 'reconciled') return !isWaitedFor(job, run.expectedAt);
    const made = reconciledAt(job, endpoint, type);
    if (made === undefined) return false;
    if (made.twin !== undefined) return made.twin === id;
    if (now > made.at + MIN_RETAIN_MS) return false; // the service no longer sends the event that was made
    await book.change(name, (current) => withTwin(current, made, id));
    return true;
  }

  /** Returns how the record of a job gets the event; resolves to whether it has it. */
  function recorder(name: JobName, delivery: Delivery, endpoint: string, run: JobRun): () => Promise<boolean> {
    const { event, body, scheme } = delivery;
    const { id, type, version, jobId, timestamp } = event;
    const whole = decoder.decode(body); // before the handler, which may change the delivery
    const withoutData = JSON.stringify({ id, type, version, jobId, data: {}, timestamp });
    const reconciled = scheme === 'reconciled';
    const withEvent = (text: string) => (job: JobContent, at: number) => {
      if (!reconciled) return withEnding(job, { type, body: text, at });
      if (!isWaitedFor(job, run.expectedAt)) return job;
      return withReconciled(withEnding(job, { type, body: text, at, reconciled }), { endpoint, type, at });
    };
    const write = (text: string) => withTimeout(STORE_TIMEOUT_MS, () => book.change(name, withEvent(text)));
    let tries = 0;
    return async () => {
      tries += 1;
      try {
        // A store may refuse a large event each time: its job ends without the data.
        await write(whole).catch((error) => (tries > 1 ? write(withoutData) : Promise.reject(error)));
      } catch (error) {
        run.reports.notify({ kind: 'store_error', delivery, operation: 'complete', error });
        return false;
      }
      changed(await book.keyOf(name));
      return true;
    };
  }

  async function claimJob(endpoint: string, delivery: Delivery, lease: Lease, run: JobRun): Promise<Claim> {
    const { event, tenant } = delivery;
    if (event.jobId === null) return { status: 'acquired', lease };
    const name: JobName = { jobId: event.jobId, tenant };
    const record = recorder(name, delivery, endpoint, run);
    let right: Claim | undefined;
    try {
      right = await claimRun(delivery, endpoint, run);
      if (right.status !== 'acquired') {
        await lease.release();
        return right;
      }
      if (await isDone(name, delivery, endpoint, run)) {
        await right.lease.release();
        await lease.complete('not_handled');
        return { status: 'completed' };
      }
    } catch (error) {
      if (right?.status === 'acquired') await right.lease.release();
      await lease.release();
      throw error;
    }
    return { status: 'acquired', lease: joined(lease, right.lease, record, run.reports.background) };
  }

  return (endpoint) => {
    check(
      endpoint !== undefined || store.scope === 'process',
      'jobs on a store that other processes share need the name of the endpoint',
      'Pass the same name everywhere: dedupe: { store, name } to the receiver, and name to reconcile().',
    );
    return (delivery, lease, run) => claimJob(endpoint ?? 'default', delivery, lease, run);
  };
}

/**
 * Returns the lease of an event and of the right to run its handler. The record of the job is written first, so that no
 * event is completed whose job goes on waiting for it.
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
      // Until the record has the event, no reconciliation may run the handler.
      if (!isRecorded) background(retryLater(recorded, RECORD_DELAYS_MS).then(() => right.release()));
      await Promise.all([lease.complete(as), isRecorded && right.release()]);
    },
    async release() {
      await Promise.all([right.release(), lease.release()]);
    },
    abandon() {
      right.abandon();
      lease.abandon();
    },
  };
}
