import { createBackground } from '../background.js';
import type { JobClaims } from '../dedupe/job-claims.js';
import { NO_LEASE } from '../dedupe/lease.js';
import { STORE_TIMEOUT_MS } from '../dedupe/store-call.js';
import { purposeKeys } from '../endpoint.js';
import { WebhookError } from '../errors.js';
import { check } from '../option-checks.js';
import { settle } from '../receiver/claimed-delivery.js';
import type { Decision } from '../receiver/outcome.js';
import { failed, runHandler } from '../receiver/run-handler.js';
import { orAborted, withTimeLimit } from '../timers.js';
import type { Delivery } from '../verify/verify.js';
import type { JobBook } from './job-book.js';
import { endsJob, type Job, type JobContent, toJob } from './job-record.js';
import { type ReconcileOptions, reconcileSettings } from './reconcile-options.js';
import { reconciledDelivery } from './reconciled-delivery.js';

/** What a reconciliation did: each overdue job is counted once. */
export interface Reconciliation {
  /** Jobs that have ended: their handler has returned. */
  ended: number;
  /** Jobs that still run, by the answer of the service. */
  running: number;
  /** Jobs that another process works on, or whose webhook came meanwhile. */
  elsewhere: number;
  /** Jobs whose event has no handler in `on`. They stay overdue. */
  ignored: number;
  /** Jobs whose `fetch` or handler failed. They stay overdue, and the next reconciliation tries again. */
  failed: number;
}

/** Another process asks for the same job only after the time limit of `fetch` and this share of it. */
const MARGIN = 0.1;
const PAGE = 100;

/** What a reconciliation works on. */
export interface ReconcileWith {
  book: JobBook;
  claimsFor: JobClaims['claimsFor'];
  /** Returns the name of the endpoint where the options have none. */
  onlyName(): string | undefined;
}

type Result = keyof Reconciliation;

/** Asks the service for every overdue job, and runs the handlers of those that have ended. */
export async function reconcile(
  { book, claimsFor, onlyName }: ReconcileWith,
  options: ReconcileOptions,
): Promise<Reconciliation> {
  const {
    handlerFor,
    fetch,
    name = onlyName(),
    concurrency,
    fetchTimeoutMs,
    signal,
    report,
  } = reconcileSettings(options);
  const claimJob = claimsFor(name);
  const unfinished: Promise<unknown>[] = [];
  const background = createBackground((work) => void unfinished.push(work));
  const instance = crypto.randomUUID();

  /** Takes the right to ask the service for a job. Resolves to undefined where another process has it, or the job has ended. */
  async function take(listed: JobContent): Promise<Job | undefined> {
    let wasNoticed = false;
    let isMine = false;
    const { job, now } = await book.change(listed, (job, time) => {
      const { expected } = job;
      isMine = expected !== undefined && !job.ended && !(expected.asking && expected.asking.until > time);
      if (!isMine || expected === undefined) return job;
      wasNoticed = expected.noticed === true;
      const asking = { by: instance, until: time + (1 + MARGIN) * fetchTimeoutMs };
      return { ...job, expected: { ...expected, noticed: true, asking } };
    });
    if (!isMine) return undefined;
    const taken = toJob(job, now);
    const { jobId, tenant, note, dueAt = now } = taken;
    if (!wasNoticed) report({ kind: 'overdue', jobId, tenant, note, overdueMs: now - dueAt });
    return taken;
  }

  async function giveBack(listed: JobContent): Promise<void> {
    await book.change(listed, (job) => {
      if (job.ended || job.expected?.asking?.by !== instance) return job;
      return { ...job, expected: { ...job.expected, asking: undefined } };
    });
  }

  async function run(delivery: Delivery, { expectedAt }: Job): Promise<Result> {
    const handler = attempt(() => handlerFor(delivery.event));
    if ('thrown' in handler) return decided(failed(delivery, handler.thrown));
    if (handler.value === undefined) return decided({ kind: 'ignored', delivery });
    const keyFor = await purposeKeys(delivery, name);
    const limit = { remaining: () => STORE_TIMEOUT_MS };
    const reports = { notify: report, background };
    const claim = await claimJob(delivery, NO_LEASE, { limit, reports, waitMs: 0, expectedAt });
    if (claim.status !== 'acquired') return 'elsewhere';
    const { attempt: count, fence } = claim.lease;
    const context = { delivery, signal: signal ?? new AbortController().signal, attempt: count, fence, endpoint: name };
    const { decision } = await runHandler(handler.value, { ...context, keyFor });
    return decided(await settle(claim, decision));
  }

  function decided(decision: Decision): Result {
    report(decision);
    if (decision.kind === 'handled') return 'ended';
    return decision.kind === 'ignored' ? 'ignored' : 'failed';
  }

  async function reconcileOne(listed: JobContent): Promise<Result> {
    let job: Job | undefined;
    try {
      job = await take(listed);
      if (job === undefined) return 'elsewhere';
      const delivery = await ask(job);
      return delivery === undefined ? 'running' : await run(delivery, job);
    } catch (cause) {
      if (signal?.aborted) return 'failed';
      const message = `The job ${JSON.stringify(listed.jobId.slice(0, 120))} could not be reconciled.`;
      const error = new WebhookError('handler_failed', {
        message,
        hint: 'Fix error.cause: the next reconciliation tries again.',
        cause,
      });
      report({ kind: 'failed', error });
      return 'failed';
    } finally {
      if (job) await giveBack(listed).catch(() => {}); // its right to ask ends by itself
    }
  }

  async function ask(job: Job): Promise<Delivery | undefined> {
    const timedOut = () => new Error(`fetch has not returned within ${fetchTimeoutMs} ms`);
    const found = await withTimeLimit({ ms: fetchTimeoutMs, timedOut, signal }, async (both) =>
      fetch(job, { signal: both }),
    );
    if (found == null) return undefined;
    const delivery = await reconciledDelivery(job, found);
    const { type } = delivery.event;
    const ends = job.types?.join(' or ') ?? 'a type that ends in .completed or .failed';
    check(
      endsJob(type, job.types),
      `fetch returned the type ${JSON.stringify(type)}, which does not end the job`,
      `Return ${ends}.`,
    );
    return delivery;
  }

  const counts: Reconciliation = { ended: 0, running: 0, elsewhere: 0, ignored: 0, failed: 0 };
  let after: { dueAt: number; key: string } | undefined;
  while (!signal?.aborted) {
    const page = await book.list({ limit: PAGE, overdue: true, after });
    await inParallel(page, concurrency, async ({ job }) => {
      if (job && !signal?.aborted) counts[await reconcileOne(job)] += 1;
    });
    after = page.at(-1);
    if (page.length < PAGE) break;
  }
  // An end that could not be recorded is tried again before a platform may stop the process.
  await until(Promise.all(unfinished), signal);
  await book.purgeExpired(signal).catch(() => {}); // the next call removes what has expired
  return counts;
}

function attempt<T>(call: () => T): { value: T } | { thrown: unknown } {
  try {
    return { value: call() };
  } catch (thrown) {
    return { thrown };
  }
}

/** Waits for a promise that never rejects, at most until the signal. */
async function until(promise: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
  await (signal ? orAborted(promise, signal).catch(() => {}) : promise);
}

/** Works on all items, a number of them at a time. */
async function inParallel<T>(
  items: readonly T[],
  concurrency: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items.values();
  const worker = async () => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker));
}
