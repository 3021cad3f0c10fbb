import { createBackground } from '../background.js';
import type { Claim } from '../dedupe/dedupe.js';
import type { JobClaims } from '../dedupe/job-claims.js';
import { NO_LEASE } from '../dedupe/lease.js';
import { endpointOf, purposeKeys } from '../endpoint.js';
import { isWebhookError, WebhookError } from '../errors.js';
import { check, checkKnownOptions, checkObject } from '../option-checks.js';
import { settle } from '../receiver/claimed-delivery.js';
import { type HandlerContext, type Handlers, handlerTable } from '../receiver/handlers.js';
import { createLog, type Logger } from '../receiver/log.js';
import { checkJobs, type ReceiverOptions, safeObserver } from '../receiver/options.js';
import type { DeadLetterCause, DeadLetterNotice, Decision, Outcome } from '../receiver/outcome.js';
import { fromQueued, type QueuedDelivery } from '../receiver/queued-delivery.js';
import { failed, type HandlerEnd, runHandler } from '../receiver/run-handler.js';
import type { Delivery } from '../verify/verify.js';
import { asPacked } from './packed-delivery.js';
import { createPayloads, PAYLOAD_OPTIONS, type PayloadOptions } from './payloads.js';
import { reasonOf, storedStack, WORKER_DIED } from './reason.js';

/** Options of a worker, which runs the handlers of queued deliveries. */
export interface WorkerOptions extends PayloadOptions {
  /** The handlers by event type, as in a receiver. */
  on: Handlers;
  /**
   * The result of `createJobs` of `service-webhooks/jobs`: an event whose handler has returned ends the job that
   * `jobs.expect()` waits for.
   */
  jobs?: JobClaims | undefined;
  /** Called with every decision. Errors that it throws never affect a job. */
  observe?: ReceiverOptions['observe'];
  /** The logger of the worker. Default: `console`. `false` switches it off. */
  logger?: Logger | false | undefined;
  /**
   * Records each run of a handler, for example as a span with a link to its request: `workerTelemetry()` of
   * `service-webhooks/otel`. Default: none.
   */
  telemetry?: WorkerTelemetry | undefined;
}

/** Surrounds each run of a handler, for example with a span. */
export interface WorkerTelemetry {
  /** Calls `run` once, and resolves to its result. `attempt` is the number of times the job has started, from 1. */
  record(queued: QueuedDelivery, run: () => Promise<Ended>, job?: { attempt: number }): Promise<Ended>;
  /** Counts a dead letter. */
  deadLetter?(notice: DeadLetterNotice): void;
}

/** The names of {@link WorkerOptions}. */
export const WORKER_OPTIONS = [
  'on',
  'jobs',
  'observe',
  'logger',
  'telemetry',
  ...PAYLOAD_OPTIONS,
] as const satisfies readonly (keyof WorkerOptions)[];

/** Other names of these options that people try. */
export const WORKER_ALIASES = { handler: 'on', handlers: 'on', log: 'logger' };

/** The run of a job by an engine. */
export interface JobRun {
  /** The number of times the job has started, from 1. */
  attempt: number;
  /**
   * How many times its handler may start. With it, the failure of the last attempt ends as `'dead'`, and so does, without
   * a run, a job that starts again because its worker died in the last attempt. Default: no limit.
   */
  attempts?: number | undefined;
  /** Aborted where the engine removes the job from the worker or the worker stops. */
  signal?: AbortSignal | undefined;
  /** A number that grows with every owner of the job, where the engine has one; otherwise 0. */
  fence?: number | undefined;
  /**
   * Resolves to whether the job is still this worker's. It is asked before a body that is kept outside of the queue is deleted.
   * Default: it is, until `signal` is aborted.
   */
  isOwn?: (() => Promise<boolean>) | undefined;
}

/** The result of a run, from which the engine decides what to do with the job. */
export type Ended =
  /** The job is finished. */
  | { as: 'done'; decision: Decision }
  /** The engine retries the job, by its own options. */
  | ({ as: 'failed' } & Failure)
  /** The handler threw a {@link PermanentError}, or no attempt is left: the job becomes a dead letter. */
  | ({ as: 'dead'; attempts: number; cause: DeadLetterCause } & Failure)
  /** This version cannot read the job: it stays in the queue, and no attempt is counted. */
  | ({ as: 'unreadable' } & Failure);

interface Failure {
  decision: Decision;
  error: Error;
  /** What an operator reads of the error, at most 1 000 characters: the text that a {@link PermanentError} was given. */
  reason: string;
  /** The stack of the error and those of its causes, at most 4 000 characters; undefined where no handler threw. */
  stack?: string | undefined;
}

/** Why a job became a dead letter, and after how many attempts: an {@link Ended} that is `'dead'`, for example. */
interface LetterOf {
  attempts: number;
  reason: string;
  cause?: DeadLetterCause | undefined;
}

/** Runs the handlers of queued deliveries. */
export interface Processor {
  /** Runs the handler of one queued delivery. Never rejects. */
  (job: unknown, run: JobRun): Promise<Ended>;
  /** Resolves to whether this worker can read a job; also where its body is not to be had now. */
  canRead(job: unknown): Promise<boolean>;
  /**
   * Reports a dead letter to `observe`, to the log and to `telemetry`. Call it once the engine has made the job a dead
   * letter. Never throws.
   */
  deadLetter(job: unknown, letter: LetterOf): void;
}

/**
 * Returns the function that an engine calls with each job. Use it to write a worker for an engine that this package
 * does not support, as `docs/add-a-queue.md` shows.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * const process = createProcessor({ on });
 * const ended = await process(job, { attempt: 1, attempts: 10 });
 * if (ended.as === 'failed') throw ended.error; // the engine retries the job
 * if (ended.as === 'dead') process.deadLetter(job, ended); // once the engine has made it a dead letter
 */
export function createProcessor(options: WorkerOptions): Processor {
  checkObject('options', options);
  checkKnownOptions('the worker', options, WORKER_OPTIONS, WORKER_ALIASES);
  const { telemetry, jobs } = options;
  checkJobs(jobs);
  check(telemetry === undefined || typeof telemetry.record === 'function', 'telemetry has no method record()');
  const payloads = createPayloads(options);
  /** The deliveries of packed jobs, which `deadLetter` reports without opening them a second time. */
  const opened = new WeakMap<object, QueuedDelivery>();
  const handlerFor = handlerTable(options.on);
  const observe = safeObserver(options.observe);
  const log = createLog(options.logger);
  const reports = { notify: (notice: Outcome) => report(notice), background: createBackground() };

  /** Claims the job of a delivery, once no other process works on it. */
  async function claimJob({ delivery, endpoint, signal }: HandlerContext): Promise<Claim> {
    if (jobs === undefined) return { status: 'acquired', lease: NO_LEASE };
    const limit = { remaining: () => Number.POSITIVE_INFINITY };
    return jobs.claimsFor(endpoint)(delivery, NO_LEASE, { limit, waitMs: Number.POSITIVE_INFINITY, signal, reports });
  }

  async function run(delivery: Delivery, key: string, { attempt, signal, fence = 0 }: JobRun): Promise<Ended> {
    try {
      const handler = handlerFor(delivery.event);
      if (handler === undefined) return { as: 'done', decision: { kind: 'ignored', delivery } };
      const endpoint = endpointOf(key);
      const keyFor = await purposeKeys(delivery, endpoint);
      const context = { delivery, signal: signal ?? new AbortController().signal, attempt, fence, endpoint, keyFor };
      const claim = await claimJob(context);
      if (claim.status !== 'acquired') return { as: 'done', decision: { kind: 'duplicate', delivery } };
      const ended = await runHandler(handler, context);
      await settle(claim, ended.decision);
      return endedBy(ended, attempt);
    } catch (thrown) {
      // The event lacks data that the type of its handler promises, or its job could not be claimed.
      const isStore = isWebhookError(thrown) && thrown.code === 'store_unavailable';
      const decision = isStore ? ({ kind: 'failed', delivery, error: thrown } as const) : failed(delivery, thrown);
      return endedBy({ decision, thrown }, attempt);
    }
  }

  async function resultOf(job: unknown, jobRun: JobRun): Promise<Ended> {
    const { attempt, attempts = Number.POSITIVE_INFINITY } = jobRun;
    let queued: QueuedDelivery | undefined;
    let result: Ended;
    try {
      queued = (await payloads.open(job)) as QueuedDelivery;
      const delivery = fromQueued(queued);
      if (queued !== job) opened.set(job as object, queued);
      if (attempt > attempts) return workerDied(delivery, attempts);
      const { key } = queued;
      result = await withTelemetry(queued, attempt, () => run(delivery, key, jobRun));
      if (result.as === 'done') await payloads.drop(job, () => isOwn(jobRun));
    } catch (error) {
      if (!isWebhookError(error) || error.code !== 'body_unavailable') return unreadable(error);
      result = { as: 'failed', decision: { kind: 'failed', error }, error, reason: reasonOf(error) };
    }
    if (result.as !== 'failed' || attempt < attempts) return result;
    const cause = result.decision.error?.code === 'unexpected_data' ? 'unexpected_data' : 'attempts_used';
    return { ...result, as: 'dead', attempts: Math.min(attempt, attempts), cause };
  }

  /** Runs a job inside the telemetry, whose failure must not become one of the job. */
  async function withTelemetry(job: QueuedDelivery, attempt: number, runJob: () => Promise<Ended>): Promise<Ended> {
    let running: Promise<Ended> | undefined;
    const once = () => {
      running ??= runJob();
      return running;
    };
    await (async () => telemetry?.record(job, once, { attempt }))().catch(() => {});
    return once();
  }

  function report(outcome: Outcome, attempt?: number): void {
    log.outcome(outcome, attempt);
    observe(outcome);
  }

  async function process(job: unknown, jobRun: JobRun): Promise<Ended> {
    const result = await resultOf(job, jobRun);
    report(result.decision, jobRun.attempt);
    return result;
  }

  function deadLetter(job: unknown, { attempts, reason, cause }: LetterOf): void {
    const { delivery, name } = readable(opened.get(Object(job)) ?? job);
    const notice = {
      kind: 'dead_letter',
      type: delivery?.event.type,
      reason,
      cause,
      attempts,
      name,
      delivery,
    } as const;
    report(notice, attempts);
    try {
      telemetry?.deadLetter?.(notice);
    } catch {
      // A failure of the telemetry must not become a failure of the job.
    }
  }

  async function canRead(job: unknown): Promise<boolean> {
    try {
      fromQueued(await payloads.open(job));
      return true;
    } catch (error) {
      return isWebhookError(error) && error.code === 'body_unavailable';
    }
  }

  return Object.assign(process, { canRead, deadLetter });
}

async function isOwn({ signal, isOwn = async () => true }: JobRun): Promise<boolean> {
  return !signal?.aborted && (await isOwn());
}

function readable(job: unknown): { delivery?: Delivery; name: string | undefined } {
  try {
    return { delivery: fromQueued(job), name: endpointOf((job as QueuedDelivery).key) };
  } catch {
    return { name: endpointOf(asPacked(job)?.key ?? '') };
  }
}

function endedBy({ decision, thrown }: HandlerEnd, attempt: number): Ended {
  if (decision.kind === 'handled') return { as: 'done', decision };
  const error = isError(thrown) ? thrown : decision.error;
  const failure = { decision, error, reason: reasonOf(thrown), stack: storedStack(thrown) };
  return decision.kind === 'discarded'
    ? { as: 'dead', ...failure, attempts: attempt, cause: 'permanent_failure' }
    : { as: 'failed', ...failure };
}

/** Never throws: the prototype of a Proxy may do so. */
function isError(thrown: unknown): thrown is Error {
  try {
    return thrown instanceof Error;
  } catch {
    return false;
  }
}

function workerDied(delivery: Delivery, attempts: number): Ended {
  const error = new WebhookError('handler_failed', {
    message: WORKER_DIED,
    hint: 'Find out why its process ended: for example a crash, the memory limit, or a stop that did not wait for handlers.',
  });
  const decision = { kind: 'failed', delivery, error } as const;
  return { as: 'dead', decision, error, reason: WORKER_DIED, attempts, cause: 'worker_died' };
}

function unreadable(thrown: unknown): Ended {
  const error = isWebhookError(thrown) ? thrown : new WebhookError('unreadable_job', { cause: thrown });
  return { as: 'unreadable', decision: { kind: 'failed', error }, error, reason: reasonOf(error) };
}
