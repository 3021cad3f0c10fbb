import { isWebhookError, WebhookError } from '../errors.js';
import { check, checkKnownOptions, checkObject } from '../option-checks.js';
import { type Handlers, handlerTable } from '../receiver/handlers.js';
import { createLog, type Logger } from '../receiver/log.js';
import { type ReceiverOptions, safeObserver } from '../receiver/options.js';
import type { Decision } from '../receiver/outcome.js';
import { fromQueued, type QueuedDelivery } from '../receiver/queued-delivery.js';
import type { Delivery } from '../verify/verify.js';

/** Options of a worker, which runs the handlers of queued deliveries. */
export interface WorkerOptions {
  /** The handlers by event type, as in a receiver. */
  on: Handlers;
  /** Called with every decision. Errors that it throws never affect a job. */
  observe?: ReceiverOptions['observe'];
  /** The logger of the worker. Default: `console`. `false` switches it off. */
  logger?: Logger | false | undefined;
  /** Continues the trace of the request in the handler: `workerTelemetry()` of `service-webhooks/otel`. */
  telemetry?: WorkerTelemetry | undefined;
}

/** Surrounds each run of a handler, for example with a span. */
export interface WorkerTelemetry {
  /** Calls `run` once, and resolves to its result. */
  record(queued: QueuedDelivery, run: () => Promise<Ended>): Promise<Ended>;
}

/** The names of {@link WorkerOptions}. */
export const WORKER_OPTIONS = [
  'on',
  'observe',
  'logger',
  'telemetry',
] as const satisfies readonly (keyof WorkerOptions)[];

/** Other names of these options that people try. */
export const WORKER_ALIASES = { handler: 'on', handlers: 'on', log: 'logger' };

/** The run of a job by an engine. */
export interface JobRun {
  /** The number of times the job has started, from 1. */
  attempt: number;
  /** Aborted where the engine removes the job from the worker or the worker stops. */
  signal?: AbortSignal | undefined;
  /** A number that grows with every owner of the job, where the engine has one; otherwise 0. */
  fence?: number | undefined;
}

/** The result of a run, from which the engine decides what to do with the job. */
export type Ended =
  /** The job is finished. */
  | { as: 'done'; decision: Decision }
  /** The engine retries the job, by its own options. */
  | { as: 'failed'; decision: Decision; error: Error }
  /** The handler threw a {@link PermanentError}: the job becomes a dead letter and is not retried. */
  | { as: 'dead'; decision: Decision; error: Error }
  /** This version cannot read the job: it stays in the queue, and no attempt is counted. */
  | { as: 'unreadable'; decision: Decision; error: Error };

/** Runs the handler of one queued delivery. Never rejects. */
export type Processor = (job: unknown, run: JobRun) => Promise<Ended>;

/**
 * Returns the function that an engine calls with each job. Use it to write a worker for an engine that this package
 * does not support, as `docs/add-a-queue.md` shows.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * const process = createProcessor({ on });
 * const ended = await process(job, { attempt: 1 });
 * if (ended.as === 'failed') throw ended.error; // the engine retries the job
 */
export function createProcessor(options: WorkerOptions): Processor {
  checkObject('options', options);
  checkKnownOptions('the worker', options, WORKER_OPTIONS, WORKER_ALIASES);
  const { telemetry } = options;
  check(telemetry === undefined || typeof telemetry.record === 'function', 'telemetry has no method record()');
  const handlerFor = handlerTable(options.on);
  const observe = safeObserver(options.observe);
  const log = createLog(options.logger);

  async function run(delivery: Delivery, { attempt, signal, fence = 0 }: JobRun): Promise<Ended> {
    try {
      const handler = handlerFor(delivery.event);
      if (handler === undefined) return { as: 'done', decision: { kind: 'ignored', delivery } };
      await handler(delivery.event, { delivery, signal: signal ?? new AbortController().signal, attempt, fence });
      return { as: 'done', decision: { kind: 'handled', delivery, attempt, fence, status: 200 } };
    } catch (thrown) {
      return failure(thrown, delivery);
    }
  }

  return async (job, jobRun) => {
    let ended: Ended;
    try {
      const delivery = fromQueued(job);
      const runJob = () => run(delivery, jobRun);
      ended = await (telemetry ? telemetry.record(job as QueuedDelivery, runJob) : runJob());
    } catch (error) {
      ended = unreadable(error);
    }
    log.outcome(ended.decision);
    observe(ended.decision);
    return ended;
  };
}

function failure(thrown: unknown, delivery: Delivery): Ended {
  const error = isWebhookError(thrown) ? thrown : undefined;
  if (error?.code === 'permanent_failure') {
    return { as: 'dead', decision: { kind: 'discarded', delivery, error }, error };
  }
  // From an inbox: another run of the event holds it in a transaction that is still open.
  if (error?.code === 'delivery_in_progress') {
    return { as: 'failed', decision: { kind: 'in_progress', delivery, retryAfterMs: 1_000, error }, error };
  }
  const failed = error?.code === 'unexpected_data' ? error : new WebhookError('handler_failed', { cause: thrown });
  const cause = thrown instanceof Error ? thrown : failed;
  return { as: 'failed', decision: { kind: 'failed', delivery, error: failed }, error: cause };
}

function unreadable(thrown: unknown): Ended {
  const error = isWebhookError(thrown) ? thrown : new WebhookError('unreadable_job', { cause: thrown });
  return { as: 'unreadable', decision: { kind: 'failed', error }, error };
}
