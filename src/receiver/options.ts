import { type Background, createBackground } from '../background.js';
import type { JobClaims } from '../dedupe/job-claims.js';
import type { DedupeOptions } from '../dedupe/options.js';
import { WebhookError } from '../errors.js';
import {
  check,
  checkFunction,
  checkKnownOptions,
  checkObject,
  checkPositiveInteger,
  integers,
} from '../option-checks.js';
import { SIGNATURE_OPTIONS, type SignatureOptions } from '../verify/policy.js';
import type { DeliveryQueue } from './delivery-queue.js';
import type { Handlers } from './handlers.js';
import type { SecretSource } from './key-source.js';
import type { Logger } from './log.js';
import type { Outcome } from './outcome.js';

/** Options of a receiver. An option given as undefined has its default; an unknown option throws. */
export interface ReceiverOptions extends SignatureOptions {
  /**
   * The signing secret of the endpoint, several during a rotation, or the secrets of each tenant: as an object, or by a
   * function that fetches those of one delivery. Its hint comes from a header that no signature covers: use it only to
   * look secrets up. `docs/multi-tenancy.md` has the rules of tenants.
   */
  secret: SecretSource;
  /** The handlers of an endpoint; a middleware has none. */
  on?: Handlers | undefined;
  /**
   * A queue that stores each delivery durably, instead of handlers, which then run in a worker of the queue. The
   * receiver answers 202 once the queue has confirmed the delivery.
   */
  queue?: DeliveryQueue | undefined;
  /**
   * Options of dedupe, which recognises retries. Default: a private memory store; with a queue, only the queue's own
   * dedupe. `false` switches it off.
   */
  dedupe?: DedupeOptions | false | undefined;
  /**
   * The result of `createJobs` of `service-webhooks/jobs`: an event whose handler has returned ends the job that
   * `jobs.expect()` waits for. With a queue, pass it to the worker.
   */
  jobs?: JobClaims | undefined;
  /** The largest body, in bytes. Default: 5 242 880 (5 MiB). */
  maxBodyBytes?: number | undefined;
  /** The time from the arrival of a request to its answer, in milliseconds. Default: 15 000. The service waits 20 s. */
  deadlineMs?: number | undefined;
  /**
   * Called with every decision and every notice, for metrics. What it throws, and a promise that it returns, never affect
   * a delivery. The promise is passed to `waitUntil`.
   */
  observe?: ((outcome: Outcome) => unknown) | undefined;
  /** The logger of the receiver. Default: `console`. `false` switches it off. */
  logger?: Logger | false | undefined;
  /** Reports a `silent` notice after this time without an accepted delivery, in milliseconds. Default: never. */
  silentAfterMs?: number | undefined;
  /**
   * The function of a serverless platform that keeps an instance running until a promise has settled. Called with all
   * that the receiver does after its response: a handler past its deadline, the end of a claim, a promise of `observe`.
   * The promise never rejects. Not called where nothing is left to do. An error that it throws is logged and never
   * affects a delivery. Default: none, for a process that lives on.
   *
   * @example
   * // waitUntil is imported from 'cloudflare:workers' or from '@vercel/functions'
   * const receiver = createReceiver({ secret, on, waitUntil });
   */
  waitUntil?: ((work: Promise<unknown>) => void) | undefined;
}

/** The options of an endpoint, which handles events itself or queues them. */
// Where neither is given, TypeScript names the option that the last of these lacks, by order or by name: `on`.
export type EndpointOptions = OptionsForQueue | OptionsWithOn;

interface OptionsForQueue extends ReceiverOptions {
  on?: undefined;
  queue: DeliveryQueue;
}

interface OptionsWithOn extends ReceiverOptions {
  /** `{}` acknowledges every event without handling it. */
  on: Handlers;
  queue?: undefined;
}

/** The options of a middleware, behind which a route handles the event and answers. */
export interface MiddlewareOptions extends ReceiverOptions {
  /** Not allowed, because the route handles the event. */
  on?: undefined;
  /** Not allowed, because the route gets the event. */
  queue?: undefined;
  /** Not allowed, because only the route can answer. `context.signal` is aborted after 15 s. */
  deadlineMs?: undefined;
}

/** The names of the options, without those of `dedupe` and of the signature. */
export const RECEIVER_OPTIONS = [
  'secret',
  'on',
  'queue',
  'dedupe',
  'jobs',
  'maxBodyBytes',
  'deadlineMs',
  'observe',
  'logger',
  'silentAfterMs',
  'waitUntil',
] as const satisfies readonly (keyof ReceiverOptions)[];

/** The names of these options in other libraries. */
const ALIASES = {
  handler: 'on',
  handlers: 'on',
  log: 'logger',
  prefix: 'headerPrefix',
  store: 'dedupe: { store }',
  timeout: 'deadlineMs',
  tolerance: 'toleranceSeconds',
};

/** @throws WebhookError `invalid_option` for an unknown option and for a limit that is not a positive integer */
export function receiverLimits(options: ReceiverOptions) {
  checkObject('options', options);
  checkKnownOptions('the receiver', options, [...RECEIVER_OPTIONS, ...SIGNATURE_OPTIONS], ALIASES);
  if (options.queue !== undefined) {
    check(typeof options.queue?.put === 'function', 'queue has no method put()');
    check(typeof options.queue.name === 'string' && options.queue.name !== '', 'queue has no name');
    check(
      options.on === undefined,
      'on and queue cannot both be given: the handlers belong to the worker of the queue',
    );
    check(options.jobs === undefined, 'jobs and queue cannot both be given: pass jobs to the worker of the queue');
  }
  checkJobs(options.jobs);
  if (options.silentAfterMs !== undefined) checkPositiveInteger('silentAfterMs', options.silentAfterMs);
  const limits = integers(options, { maxBodyBytes: 5 * 1024 * 1024, deadlineMs: 15_000 });
  checkFits(limits.maxBodyBytes, options.queue?.maxBodyBytes);
  return limits;
}

/** @throws WebhookError `invalid_option` for bodies that the queue would refuse at each attempt, until the event is lost */
function checkFits(maxBodyBytes: number, most = Number.POSITIVE_INFINITY): void {
  if (maxBodyBytes <= most) return;
  throw new WebhookError('invalid_option', {
    message: `maxBodyBytes is ${maxBodyBytes}, and a job of the queue holds a body of at most ${most} bytes.`,
    hint: `Pass overflow to the queue, which keeps larger bodies outside of it, or set maxBodyBytes to ${most} where no event is larger.`,
  });
}

/** @throws WebhookError `invalid_option` */
export function checkJobs(jobs: JobClaims | undefined): void {
  check(jobs === undefined || typeof jobs?.claimsFor === 'function', 'jobs must be the result of createJobs()');
}

/**
 * Returns `observe` as a call that never throws; a promise that it returns goes on in the background.
 *
 * @throws WebhookError `invalid_option`
 */
export function safeObserver(
  observe: ReceiverOptions['observe'],
  background: Background = createBackground(),
): (outcome: Outcome) => void {
  checkFunction('observe', observe);
  if (observe === undefined) return () => {};
  return (outcome) => {
    try {
      const returned = observe(outcome) as PromiseLike<unknown> | null | undefined;
      if (typeof returned?.then === 'function') background(returned);
    } catch {}
  };
}
