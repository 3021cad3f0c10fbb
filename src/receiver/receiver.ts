import { createBackground } from '../background.js';
import { type Claim, createDedupe } from '../dedupe/dedupe.js';
import { isWebhookError, WebhookError } from '../errors.js';
import { PAYLOAD_VERSION, type WebhookEvent } from '../event.js';
import { type ReadHeaders, readHeaders } from '../verify/headers.js';
import { hasSyncCrypto } from '../verify/hmac.js';
import { signaturePolicy } from '../verify/policy.js';
import { type Delivery, matchingSecret, matchingSecretAsync, toDelivery } from '../verify/verify.js';
import { admit } from './admit.js';
import { type Body, openBody } from './body.js';
import type { ClaimedDelivery } from './claimed-delivery.js';
import { type Deadline, startDeadline } from './deadline.js';
import { dispatch } from './dispatch.js';
import { enqueueTo } from './enqueue.js';
import { type BegunDelivery, handOver } from './hand-over.js';
import { handlerTable } from './handlers.js';
import { createHealth, type Health, type HealthReadOptions } from './health.js';
import { keySource, type OwnedKey } from './key-source.js';
import { createLog } from './log.js';
import { warnAboutMemoryStore } from './memory-store-warning.js';
import { type ReceiverOptions, receiverLimits, safeObserver } from './options.js';
import { type Decision, type Outcome, toResponse } from './outcome.js';
import type { WebhookRequest, WebhookResponse } from './request.js';
import { unsignedRequest } from './unsigned-request.js';

/** The pipeline behind every adapter: a function from a request to its answer. */
export interface Receiver {
  /** Receives one request, from the headers to the answer. Never rejects. */
  (request: WebhookRequest): Promise<WebhookResponse>;
  /** For middleware: receives one request up to the claim. Never rejects. */
  begin(request: WebhookRequest): Promise<{ response: WebhookResponse } | BegunDelivery>;
  /** Whether it has `on` or a queue; without them it can only serve a middleware. */
  readonly hasHandlers: boolean;
  /** Whether it has a queue; then it can serve no middleware, whose route would handle what belongs into the queue. */
  readonly hasQueue: boolean;
  /**
   * Resolves to the health of the endpoint, for a health check and for metrics. Never rejects. It takes at most 6 s: 2 s
   * for the queue, and 2 s for each of two calls of the store. `queue: false` does not ask the queue.
   */
  health(options?: HealthReadOptions): Promise<Health>;
  /**
   * Always null: a receiver does not reveal its secret. By this property, TypeScript tells options from a receiver, so that
   * it can suggest the right name for an option that is misspelt.
   */
  readonly secret: null;
}

/** A request is decided, or its delivery is claimed for the work that its event needs. */
type Opened<Work> = { decision: Decision } | { decision?: undefined; work: Work; claimed: ClaimedDelivery };

const WAIT_UNTIL_FAILED =
  'Your waitUntil failed, and the platform may stop work after the response. It may have lost its object, or belong to another request. Pass waitUntil: (work) => context.waitUntil(work), with the context of the request.';

/**
 * Creates the receiver of an endpoint: it verifies, deduplicates, dispatches and answers.
 *
 * @throws WebhookError `invalid_secret` or `invalid_option`, so that a mistake is known before the first delivery.
 * @example
 * const receiver = createReceiver({
 *   secret: process.env['WEBHOOK_SECRET'] ?? '', // an empty one throws
 *   on: { 'generation.completed': async (event) => download(event.data.downloadUrl) },
 * });
 */
export function createReceiver(options: ReceiverOptions): Receiver {
  const { maxBodyBytes, deadlineMs } = receiverLimits(options);
  const policy = signaturePolicy(options);
  const keysFor = keySource(options.secret);
  const { on = {} } = options;
  const handlerFor = handlerTable(on);
  const log = createLog(options.logger);
  const background = createBackground(options.waitUntil, (error) =>
    log.warn('wait_until_failed', WAIT_UNTIL_FAILED, error),
  );
  const observe = safeObserver(options.observe, background);
  const { queue, jobs, dedupe: dedupeOptions = queue ? false : {} } = options;
  const dedupe = createDedupe(dedupeOptions, { notify, background });
  const endpoint = dedupeOptions === false ? undefined : dedupeOptions.name;
  const claimJob = jobs?.claimsFor(endpoint);
  const { key: identity = 'event-id' } = dedupe.settings ?? {};
  const enqueue = queue && enqueueTo(queue, identity);
  // A private memory store has no other receivers to share reports with.
  const sharing = dedupeOptions !== false && dedupeOptions.store !== undefined ? dedupe.settings : undefined;
  const health = createHealth({ sharing, queue, silentAfterMs: options.silentAfterMs, notify });
  if (dedupe.settings?.store.scope === 'process') warnAboutMemoryStore(log, options);

  async function receive(request: WebhookRequest): Promise<WebhookResponse> {
    const opened = await open(request, workOn);
    if (opened.decision) return respond(opened.decision);
    const decision = await opened.work(opened.claimed);
    opened.claimed.deadline.clear();
    return respond(decision);
  }

  /** Returns what is done with a claimed event: it is queued, or its handler runs. Undefined where it has no handler. */
  function workOn(event: WebhookEvent): ((claimed: ClaimedDelivery) => Promise<Decision>) | undefined {
    if (enqueue) return enqueue;
    const handler = handlerFor(event);
    return handler && ((claimed) => dispatch(handler, claimed, notify, background));
  }

  async function begin(request: WebhookRequest): Promise<{ response: WebhookResponse } | BegunDelivery> {
    const opened = await open(request, () => handOver);
    if (opened.decision) return { response: respond(opened.decision) };
    return opened.work(opened.claimed, { respond, notify, background });
  }

  /** Runs the pipeline up to the claim. An error on the way becomes a decision. */
  async function open<Work>(
    request: WebhookRequest,
    workFor: (event: WebhookEvent) => Work | undefined,
  ): Promise<Opened<Work>> {
    const deadline = startDeadline(deadlineMs);
    let body: Body | undefined;
    let headers: ReadHeaders | undefined;
    let delivery: Delivery | undefined;
    try {
      if (request.error) throw request.error;
      body = openBody(request.body);
      if (request.method !== 'POST') throw new WebhookError('method_not_allowed');
      headers = readHeaders(request.headers, policy.names);
      delivery = await verified(request, headers, body, deadline);
      const work = workFor(delivery.event);
      if (work === undefined) return decided({ kind: 'ignored', delivery });
      const claim = await claimDelivery(delivery, deadline);
      if (claim.status === 'completed') return decided({ kind: 'duplicate', delivery });
      if (claim.status === 'in_progress') return decided(inProgress(delivery, claim.retryAfterMs));
      health.claimed();
      return { work, claimed: { delivery, lease: claim.lease, deadline, endpoint, ended: health.ended } };
    } catch (thrown) {
      body?.drain();
      // Once a delivery is verified, an error below 500 can only come from code of the user, such as a key function.
      const isOwn = isWebhookError(thrown) && (delivery === undefined || thrown.status >= 500);
      const error = isOwn ? thrown : new WebhookError('handler_failed', { cause: thrown });
      if (error.status >= 500) return decided({ kind: 'failed', error, delivery });
      return decided({
        kind: 'rejected',
        error,
        unsigned: unsignedRequest(() => headers ?? readHeaders(request.headers, policy.names)),
      });
    }

    function decided(decision: Decision): Opened<Work> {
      deadline.clear();
      return { decision };
    }
  }

  /** Claims the event, and its job where the receiver has `jobs`. */
  async function claimDelivery(delivery: Delivery, limit: Deadline): Promise<Claim> {
    const claim = await dedupe.claim(delivery, limit);
    if (claim.status !== 'acquired' || claimJob === undefined) return claim;
    // The other half is left for the handler.
    const waitMs = limit.remaining() / 2;
    return claimJob(delivery, claim.lease, { limit, waitMs, reports: { notify, background } });
  }

  /** Admits, reads, verifies and parses a request. */
  async function verified(
    request: WebhookRequest,
    headers: ReadHeaders,
    body: Body,
    deadline: Deadline,
  ): Promise<Delivery> {
    const signature = admit(headers, policy, maxBodyBytes);
    const bytes = await body.read(request, maxBodyBytes, deadline);
    const owned = await keysFor(headers, deadline);
    const signed = { policy, keys: owned.map(({ key }) => key), headers, body: bytes, signature };
    const matching = hasSyncCrypto ? matchingSecret(signed) : await matchingSecretAsync(signed);
    const { secretIndex, tenant } = owned[matching] as OwnedKey;
    const delivery = toDelivery(signed, secretIndex);
    return tenant === undefined ? delivery : { ...delivery, tenant };
  }

  function respond(decision: Decision): WebhookResponse {
    const response = toResponse(decision); // before an observer can change the decision
    const { delivery } = decision;
    if (delivery && delivery.event.version !== PAYLOAD_VERSION) notify({ kind: 'unknown_version', delivery });
    notify(decision);
    return response;
  }

  function notify(outcome: Outcome): void {
    health.outcome(outcome);
    log.outcome(outcome);
    observe(outcome);
  }

  return Object.assign(receive, {
    begin,
    hasHandlers: options.on !== undefined || queue !== undefined,
    hasQueue: queue !== undefined,
    health: health.read,
    secret: null,
  });
}

function inProgress(delivery: Delivery, retryAfterMs: number): Decision {
  return { kind: 'in_progress', delivery, retryAfterMs, error: new WebhookError('delivery_in_progress') };
}
