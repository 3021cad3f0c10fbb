import { isWebhookError, WebhookError } from '../errors.js';
import { isAcknowledged } from '../service/acknowledged.js';
import type { Delivery } from '../verify/verify.js';
import type { Handler, HandlerContext } from './handlers.js';
import type { Decision } from './outcome.js';

/** The decision about an event that a handler, or a route behind a middleware, has worked on. */
export type WorkDecision = Extract<Decision, { kind: 'handled' | 'in_progress' | 'discarded' | 'failed' }>;

/** The end of a handler: the decision, and what the handler threw, which may be undefined. */
export interface HandlerEnd {
  decision: WorkDecision;
  thrown?: unknown;
}

/** Runs a handler, in a receiver or in a worker. Never rejects. */
export async function runHandler(handler: Handler, context: HandlerContext): Promise<HandlerEnd> {
  const { delivery, attempt, fence } = context; // before the handler, which may change them
  try {
    const status = statusOf(await handler(delivery.event, context));
    return { decision: handled({ delivery, attempt, fence }, status) };
  } catch (thrown) {
    return { decision: failed(delivery, thrown), thrown };
  }
}

/** Returns the decision about an event whose work is done. */
export function handled(work: Pick<HandlerContext, 'delivery' | 'attempt' | 'fence'>, status = 200): WorkDecision {
  const { delivery, attempt, fence } = work;
  return { kind: 'handled', delivery, attempt, fence, status };
}

/** Returns the decision about an event whose handler or route failed: a retry follows, unless it threw a PermanentError. */
export function failed(delivery: Delivery, thrown: unknown): WorkDecision {
  const error = isWebhookError(thrown) ? thrown : undefined;
  switch (error?.code) {
    case 'permanent_failure':
      return { kind: 'discarded', delivery, error };
    case 'delivery_in_progress':
      // From an inbox: another attempt holds the event in a transaction that is still open.
      return { kind: 'in_progress', delivery, retryAfterMs: 1_000, error };
    case 'handler_failed':
    case 'unexpected_data':
      return { kind: 'failed', delivery, error };
    default:
      return { kind: 'failed', delivery, error: new WebhookError('handler_failed', { cause: thrown }) };
  }
}

/** Returns the 2xx status that a handler returns, or 200 where it returns none. @throws RangeError for another number */
function statusOf(result: unknown): number {
  const status = (result as { status?: unknown } | undefined | null)?.status;
  if (typeof status !== 'number') return 200;
  if (Number.isInteger(status) && isAcknowledged({ status })) return status;
  throw new RangeError(
    `The handler returned status ${status}, which is not 2xx. To refuse a delivery, throw an error.`,
  );
}
