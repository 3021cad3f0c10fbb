import { admit } from './admit.js';
import { type Body, openBody } from './body.js';
import { integers } from './check.js';
import { Deadline } from './deadline.js';
import { type Claim, createDedupe } from './dedupe.js';
import { type Claimed, dispatch, fail, succeed } from './dispatch.js';
import { failureOf, isWebhookError } from './errors.js';
import { PAYLOAD_VERSION } from './event.js';
import { hasSyncCrypto } from './hmac.js';
import { readHeaders, type WebhookRequest, type WebhookResponse } from './http.js';
import { type HandlerContext, handlerTable, harmless, keySource, type ReceiverOptions } from './options.js';
import { type Answer, toResponse } from './outcome.js';
import { signaturePolicy } from './signature.js';
import { type Delivery, matchingSecret, matchingSecretAsync, toDelivery } from './verify.js';

/** The pipeline behind every adapter. */
export interface Receiver {
  /** The whole line, from the request to the answer. Never rejects. */
  (request: WebhookRequest): Promise<WebhookResponse>;
  /** For middleware: the line up to the claim. Never rejects. */
  begin(request: WebhookRequest): Promise<{ response: WebhookResponse } | BegunDelivery>;
}

/** A delivery that is claimed and waits for somebody else's response. */
export interface BegunDelivery {
  delivery: Delivery;
  context: HandlerContext;
  /**
   * How the response ended: `'ok'` completes the claim, `'failed'` releases it, `'unknown'` leaves it to the lease.
   * The first call counts. Never rejects; gives the answer, for an adapter that still has one to send.
   */
  settle(ended: 'ok' | 'failed' | 'unknown', error?: unknown): Promise<WebhookResponse>;
}

/**
 * Makes the receiver of an endpoint: verifies, deduplicates, dispatches, answers (specification, section 6).
 *
 * @throws WebhookError `invalid_secret` or `invalid_option`: what is wrong is known before the first delivery.
 * @example
 * const receiver = createReceiver({
 *   secret: process.env['WEBHOOK_SECRET'] ?? '', // an empty one throws
 *   on: { 'generation.completed': async (event) => download(event.data.downloadUrl) },
 * });
 */
export function createReceiver(options: ReceiverOptions): Receiver {
  const policy = signaturePolicy(options);
  const { maxBodyBytes, deadlineMs } = integers(options, { maxBodyBytes: 5_242_880, deadlineMs: 15_000 });
  const source = keySource(options.secret, policy);
  const handlerFor = handlerTable(options.on);
  const notify = harmless(options.observe);
  const claimFor = createDedupe(options.dedupe, notify);

  const receive = (request: WebhookRequest) => accept(request, toHandler).then(respond);

  const begin: Receiver['begin'] = async (request) => {
    const begun = await accept(request, () => handOver);
    return 'kind' in begun ? { response: respond(begun) } : begun;
  };

  /** Up to the claim, then on to whoever wants the delivery. Whatever is thrown on the way is an answer. */
  async function accept<T extends object>(
    request: WebhookRequest,
    nextFor: (delivery: Delivery) => Next<T>,
  ): Promise<T | Answer> {
    const BODY_TIMEOUT_MS = 10_000; // a body that trickles in holds its connection no longer
    const deadline = new Deadline(deadlineMs);
    let body: Body | undefined;
    let result: T | Answer;
    try {
      body = openBody(request.body);
      const headers = readHeaders(request.headers);
      const signature = admit(request.method, headers, policy, maxBodyBytes);
      const bytes = await body.read(request, maxBodyBytes, Math.min(BODY_TIMEOUT_MS, deadline.remaining()));
      const keys = typeof source === 'function' ? await source(headers, deadline) : source;
      const signed = { policy, keys, headers, body: bytes, signature };
      const delivery = toDelivery(signed, hasSyncCrypto ? matchingSecret(signed) : await matchingSecretAsync(signed));
      const { version } = delivery.event;
      const next = nextFor(delivery);
      result = { kind: 'ignored', delivery };
      if (next) {
        const claim = claimFor ? await claimFor(delivery, deadline) : { attempt: 1, fence: 0, async end() {} };
        result =
          'kind' in claim
            ? claim
            : await next({ context: new ClaimedContext(delivery, claim, deadline), claim, deadline });
      }
      if (version !== PAYLOAD_VERSION) notify({ kind: 'unknown_version', delivery });
    } catch (thrown) {
      body?.drain();
      const error = isWebhookError(thrown) ? thrown : failureOf('handler_failed', 500, thrown);
      result = { kind: error.status < 500 ? 'rejected' : 'failed', error };
    }
    if ('kind' in result) deadline.clear();
    return result;
  }

  function toHandler({ event }: Delivery): Next<Answer> {
    const handler = handlerFor(event);
    return handler && ((claimed) => dispatch(handler, claimed, notify));
  }

  /** To a middleware, which tells how its response ended. */
  function handOver({ context, claim, deadline }: Claimed): BegunDelivery {
    const { delivery } = context;
    let settled: Promise<WebhookResponse> | undefined;
    return {
      delivery,
      context,
      settle: (ended, error) => {
        deadline.clear();
        settled ??= (ended === 'ok' ? succeed(delivery, claim, 200) : fail(delivery, claim, error, ended)).then(
          respond,
        );
        return settled;
      },
    };
  }

  function respond(answer: Answer): WebhookResponse {
    const response = toResponse(answer); // before an observer has its hands on it
    notify(answer);
    return response;
  }

  return Object.assign(receive, { begin });
}

/** As a class, since an object with a getter of its own is costly to make; and a signal is, so that few have one. */
class ClaimedContext implements HandlerContext {
  declare readonly delivery: Delivery;
  declare readonly attempt: number;
  declare readonly fence: number;
  readonly #deadline: Deadline;

  constructor(delivery: Delivery, { attempt, fence }: Claim, deadline: Deadline) {
    this.delivery = delivery;
    this.attempt = attempt;
    this.fence = fence;
    this.#deadline = deadline;
  }

  get signal(): AbortSignal {
    return this.#deadline.signal;
  }
}

/** Who gets a delivery that is claimed; undefined where nobody wants it. */
type Next<T> = ((claimed: Claimed) => T | Answer | Promise<T | Answer>) | undefined;
