import type { JobClaims } from '../dedupe/job-claims.js';
import { NO_LEASE, STORE_TIMEOUT_MS } from '../dedupe/lease.js';
import { checkEndpointName } from '../endpoint.js';
import { WebhookError } from '../errors.js';
import { check, checkFunction, checkKnownOptions, checkObject, integers } from '../option-checks.js';
import { settle } from '../receiver/claimed-delivery.js';
import { type Handlers, type HandlerTable, handlerTable } from '../receiver/handlers.js';
import { createLog, type Logger } from '../receiver/log.js';
import { type ReceiverOptions, safeObserver } from '../receiver/options.js';
import type { Decision, Outcome } from '../receiver/outcome.js';
import { failed, runHandler } from '../receiver/run-handler.js';
import { orAborted, withTimeLimit } from '../timers.js';
import type { Delivery } from '../verify/verify.js';
import type { JobBook } from './job-book.js';
import { endsJob, type Job, type JobContent, toJob } from './job-record.js';
import { type FetchJob, fetchFrom, type JobsClient, type ReadJob } from './job-routes.js';
import { reconciledDelivery } from './reconciled-delivery.js';

/** Options of `jobs.reconcile()`. */
export interface ReconcileOptions {
  /** The handlers of the receiver or the worker. */
  on: Handlers;
  /**
   * Asks the service for one job: `{ type, data }` of the event that it would have sent, or undefined while the job runs.
   * Default: the routes of `client`.
   */
  fetch?: FetchJob | undefined;
  /**
   * A client of `service-webhooks/client`, in place of `fetch`: for jobs with the types of dubbing, subtitles or workflow
   * runs. The note of a workflow run must be the id of its workflow.
   */
  client?: JobsClient | undefined;
  /** With `client`: reads its answer, whose fields the service does not document. */
  read?: ReadJob | undefined;
  /**
   * The name of the endpoint whose events these are: the `name` of `dedupe` in its receiver. Required for a store that other
   * processes share. Default for a memory store: the name of the only receiver with these jobs.
   */
  name?: string | undefined;
  /** How many jobs are worked on at a time. Default: 4. */
  concurrency?: number | undefined;
  /**
   * The longest time that `fetch` may take for one job, in milliseconds. Default: 150 000, longer than the time limit of a
   * client. Where a process dies while it asks, another one asks after this time.
   */
  fetchTimeoutMs?: number | undefined;
  /** Stops the reconciliation: no further job is begun, and the signal of `fetch` and of each handler is aborted. */
  signal?: AbortSignal | undefined;
  /** Called with every decision and every notice, as in a receiver. */
  observe?: ReceiverOptions['observe'];
  /** The logger. Default: `console`. `false` switches it off. */
  logger?: Logger | false | undefined;
}

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

const OPTIONS = [
  'on',
  'fetch',
  'client',
  'read',
  'name',
  'concurrency',
  'fetchTimeoutMs',
  'signal',
  'observe',
  'logger',
] as const;

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
  const { handlerFor, fetch, name = onlyName(), concurrency, fetchTimeoutMs, signal, report } = checked(options);
  const claimJob = claimsFor(name);
  const unfinished: PromiseLike<unknown>[] = [];
  const background = (work: PromiseLike<unknown>) => void unfinished.push(work);
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
    const limit = { remaining: () => STORE_TIMEOUT_MS };
    const reports = { notify: report, background };
    const claim = await claimJob(delivery, NO_LEASE, { limit, reports, waitMs: 0, expectedAt });
    if (claim.status !== 'acquired') return 'elsewhere';
    const { attempt: count, fence } = claim.lease;
    const context = { delivery, signal: signal ?? new AbortController().signal, attempt: count, fence, endpoint: name };
    const { decision } = await runHandler(handler.value, context);
    return decided(await settle(claim.lease, decision));
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
  await until(Promise.allSettled(unfinished), signal);
  await book.purgeExpired(signal).catch(() => {}); // the next call removes what has expired
  return counts;
}

/** @throws WebhookError `invalid_option` */
function checked(options: ReconcileOptions) {
  checkObject('options', options);
  checkKnownOptions('reconcile()', options, OPTIONS, { handlers: 'on', log: 'logger' });
  const { fetch, client, read, name, signal } = options;
  checkFunction('fetch', fetch);
  check(
    client === undefined || typeof client.dubbing?.job === 'function',
    'client must be the result of createClient() of service-webhooks/client',
  );
  check(
    fetch !== undefined || (client !== undefined && typeof read === 'function'),
    'reconcile() has neither fetch, nor client and read',
    'Pass fetch, a function that asks the service for one job, or a client of service-webhooks/client and read.',
  );
  if (name !== undefined) checkEndpointName(name, 'name must be that of dedupe in the receiver,');
  check(signal === undefined || signal instanceof AbortSignal, 'signal must be an AbortSignal');
  const handlerFor: HandlerTable = handlerTable(options.on);
  const observe = safeObserver(options.observe);
  const log = createLog(options.logger);
  return {
    ...integers(options, { concurrency: 4, fetchTimeoutMs: 150_000 }),
    fetch: fetch ?? fetchFrom(client as JobsClient, read as ReadJob),
    handlerFor,
    name,
    signal,
    report(outcome: Outcome) {
      log.outcome(outcome);
      observe(outcome);
    },
  };
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
