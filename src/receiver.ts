import { admit } from './admit.js';
import { openBody } from './body.js';
import { createDeadline, type Deadline } from './deadline.js';
import type { Claim } from './dedupe.js';
import { contextOf, dispatch, fail, handlerFailed, succeed } from './dispatch.js';
import { isWebhookError } from './errors.js';
import { PAYLOAD_VERSION } from './event.js';
import { hasSyncCrypto } from './hmac.js';
import { readHeaders, type WebhookRequest, type WebhookResponse } from './http.js';
import { type HandlerContext, type ReceiverOptions, readOptions } from './options.js';
import { type Answer, toResponse } from './outcome.js';
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

/** A body that trickles in holds its connection no longer than this. */
const BODY_TIMEOUT_MS = 10_000;

const match = hasSyncCrypto ? matchingSecret : matchingSecretAsync;

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
  const { policy, maxBodyBytes, deadlineMs, keysFor, handlerFor, claim, notify } = readOptions(options);

  const receive = async (request: WebhookRequest): Promise<WebhookResponse> => {
    const answer = await accept(request, async (delivery, deadline) => {
      const handler = handlerFor(delivery.event);
      if (handler === undefined) return { kind: 'ignored', delivery };
      const claimed = await claim(delivery, deadline.remaining);
      return 'kind' in claimed ? claimed : dispatch(handler, delivery, claimed, deadline, notify);
    });
    return respond(answer);
  };

  const begin: Receiver['begin'] = async (request) => {
    const begun = await accept(request, async (delivery, deadline) => {
      const claimed = await claim(delivery, deadline.remaining);
      return 'kind' in claimed ? claimed : handOver(delivery, claimed, deadline);
    });
    return 'kind' in begun ? { response: respond(begun) } : begun;
  };

  /** Up to a delivery that holds, then on to `next`. Whatever is thrown on the way is an answer. */
  async function accept<T>(request: WebhookRequest, next: Next<T>): Promise<T | Answer> {
    const deadline = createDeadline(deadlineMs);
    let drain = () => {};
    try {
      const body = openBody(request.body);
      drain = body.drain;
      const headers = readHeaders(request.headers);
      const signature = admit(request.method, headers, policy, maxBodyBytes);
      const bytes = await body.read(request, maxBodyBytes, Math.min(BODY_TIMEOUT_MS, deadline.remaining()));
      const keys = await keysFor(headers, deadline.remaining);
      const secretIndex = await match(keys, signature, bytes);
      const delivery = toDelivery(headers, bytes, signature, secretIndex, policy);
      const { version } = delivery.event;
      const result = await next(delivery, deadline);
      if (version !== PAYLOAD_VERSION) notify({ kind: 'unknown_version', delivery });
      return result;
    } catch (thrown) {
      drain();
      const error = isWebhookError(thrown) ? thrown : handlerFailed(thrown, 'outside the handler');
      return { kind: error.status < 500 ? 'rejected' : 'failed', error };
    }
  }

  /** To a middleware, which tells how its response ended. */
  function handOver(delivery: Delivery, claimed: Claim, deadline: Deadline): BegunDelivery {
    const conclude = async (ended: 'ok' | 'failed' | 'unknown', error: unknown): Promise<Answer> => {
      deadline.clear();
      if (ended === 'ok') return succeed(delivery, claimed, 200);
      if (ended === 'failed') return fail(delivery, claimed, error);
      await claimed.end('abandon');
      return { kind: 'failed', delivery, error: handlerFailed(error, 'the connection closed first') };
    };
    let settled: Promise<WebhookResponse> | undefined;
    deadline.passed();
    return {
      delivery,
      context: contextOf(delivery, claimed, deadline),
      settle: (ended, error) => (settled ??= conclude(ended, error).then(respond)),
    };
  }

  function respond(answer: Answer): WebhookResponse {
    const response = toResponse(answer); // before an observer has its hands on it
    notify(answer);
    return response;
  }

  return Object.assign(receive, { begin });
}

type Next<T> = (delivery: Delivery, deadline: Deadline) => Promise<T | Answer>;
