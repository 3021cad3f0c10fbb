import { checkEndpointName } from '../endpoint.js';
import { check, checkFunction, checkKnownOptions, checkObject, integers } from '../option-checks.js';
import { type Handlers, type HandlerTable, handlerTable } from '../receiver/handlers.js';
import { createLog, type Logger } from '../receiver/log.js';
import { type ReceiverOptions, safeObserver } from '../receiver/options.js';
import type { Outcome } from '../receiver/outcome.js';
import { type FetchJob, fetchFrom, type JobsClient, type ReadJob } from './job-routes.js';

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

/** Returns what a reconciliation works with. @throws WebhookError `invalid_option` */
export function reconcileSettings(options: ReconcileOptions) {
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
