import type { Background } from '../background.js';
import { WebhookError } from '../errors.js';
import type { Delivery } from '../verify/verify.js';
import { abandon, type ClaimedDelivery, contextOf, settle } from './claimed-delivery.js';
import type { HandlerContext } from './handlers.js';
import type { Decision, Notice } from './outcome.js';
import type { WebhookResponse } from './request.js';
import { failed, handled } from './run-handler.js';

/**
 * How the response to a delivery ended: a 2xx that was sent completely, an error or any other status, or neither, because
 * the connection closed before.
 */
export type ResponseEnd = 'ok' | 'failed' | 'unknown';

/** A claimed delivery, for a middleware whose framework makes the response. */
export interface BegunDelivery {
  delivery: Delivery;
  context: HandlerContext;
  /**
   * Ends the claim by how the response ended: `'ok'` completes it, `'failed'` releases it, `'unknown'` leaves it to its
   * lease. Only the first call ends the claim; a later `'failed'` after another end is reported as `late_result`. Never
   * rejects; resolves to the answer, for an adapter that has not sent one.
   */
  settle(ended: ResponseEnd, error?: unknown): Promise<WebhookResponse>;
  /**
   * Passes the time until `settle` has ended the claim to `waitUntil`. An adapter calls it where its response may be out
   * before that.
   */
  settlesLater(): void;
}

/** What the receiver does with the end of a delivery. */
interface ReceiverOf {
  respond(decision: Decision): WebhookResponse;
  notify(notice: Notice): void;
  background: Background;
}

/** Returns a claimed delivery for a middleware, which reports how its response ended. */
export async function handOver(
  claimed: ClaimedDelivery,
  { respond, notify, background }: ReceiverOf,
): Promise<BegunDelivery> {
  const { delivery, lease, deadline } = claimed;
  let first: ResponseEnd | undefined;
  let resolve: (response: Promise<WebhookResponse>) => void;
  const response = new Promise<WebhookResponse>((settled) => {
    resolve = settled;
  });

  async function end(ended: ResponseEnd, error: unknown): Promise<WebhookResponse> {
    deadline.clear();
    if (ended === 'unknown') return respond(abandon(claimed, error));
    const { attempt, fence } = lease;
    const decision = ended === 'ok' ? handled({ delivery, attempt, fence }) : failed(delivery, error);
    return respond(await settle(claimed, decision));
  }

  return {
    delivery,
    context: await contextOf(claimed),
    settle(ended, error) {
      if (first === undefined) {
        first = ended;
        resolve(end(ended, error));
      } else if (ended === 'failed' && first !== 'failed') {
        const late = new WebhookError('handler_failed', { cause: error });
        notify({ kind: 'late_result', delivery, result: 'failed', error: late });
      }
      return response;
    },
    settlesLater: () => background(response),
  };
}
