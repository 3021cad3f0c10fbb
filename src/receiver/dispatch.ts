import type { Lease } from '../dedupe/lease.js';
import { isWebhookError, WebhookError } from '../errors.js';
import { isAcknowledged } from '../service/acknowledged.js';
import type { Delivery } from '../verify/verify.js';
import type { Deadline } from './deadline.js';
import type { Handler, HandlerContext } from './handlers.js';
import type { Decision, Notice } from './outcome.js';

/** A claimed delivery, for the handler or the middleware that works on it. */
export interface ClaimedDelivery {
  delivery: Delivery;
  context: HandlerContext;
  lease: Lease;
  deadline: Deadline;
}

/** The possible ends of work on a claimed delivery. */
type Conclusion = Extract<Decision, { kind: 'handled' | 'in_progress' | 'discarded' | 'failed' }>;

/**
 * Runs the handler and settles its claim. At the deadline it decides without the handler, which continues: its claim is
 * renewed, its result is recorded, and a notice reports it. Never rejects.
 */
export async function dispatch(
  handler: Handler,
  claimed: ClaimedDelivery,
  notify: (notice: Notice) => void,
): Promise<Decision> {
  const { delivery, deadline } = claimed;
  const ended = runHandler(handler, claimed);
  // Only the handler must meet the deadline: a result in time is answered, however long it takes to record it.
  const first = await Promise.race([ended, deadline.passed]);
  if (first !== 'passed') return conclude(claimed, first);
  ended.then(async (result) => {
    const { kind, error } = await conclude(claimed, result);
    notify({ kind: 'late_result', delivery, result: kind, error });
  });
  const message = `Your handler is still running at deadlineMs (${deadline.ms} ms). It goes on, and its result is recorded.`;
  return { kind: 'past_deadline', delivery, error: new WebhookError('handler_timeout', { message }) };
}

/** The handler returned, or it threw; what it threw may be undefined. */
type Ended = { returned: true; status: number } | { returned: false; error: unknown };

async function runHandler(handler: Handler, { delivery, context }: ClaimedDelivery): Promise<Ended> {
  try {
    return { returned: true, status: statusOf(await handler(delivery.event, context)) };
  } catch (error) {
    return { returned: false, error };
  }
}

function conclude({ delivery, lease }: ClaimedDelivery, ended: Ended): Promise<Conclusion> {
  return ended.returned ? succeed(delivery, lease, ended.status) : fail(delivery, lease, ended.error);
}

/** Marks the event as done: 2xx, whether or not that can be recorded. */
export async function succeed(delivery: Delivery, lease: Lease, status: number): Promise<Conclusion> {
  await lease.complete();
  const { attempt, fence } = lease;
  return { kind: 'handled', delivery, attempt, fence, status };
}

/** Releases the event for the next attempt, unless a PermanentError says that no retry can help. */
export async function fail(delivery: Delivery, lease: Lease, thrown: unknown): Promise<Conclusion> {
  const error = isWebhookError(thrown) ? thrown : undefined;
  if (error?.code === 'permanent_failure') {
    await lease.complete();
    return { kind: 'discarded', delivery, error };
  }
  await lease.release();
  // From an inbox: another attempt holds the event in a transaction that is still open.
  if (error?.code === 'delivery_in_progress') return { kind: 'in_progress', delivery, retryAfterMs: 1_000, error };
  const failure = error?.code === 'handler_failed' ? error : new WebhookError('handler_failed', { cause: thrown });
  return { kind: 'failed', delivery, error: failure };
}

/** Leaves the claim to its lease: the connection closed before the response was sent, so the work may be done or not. */
export function abandon(delivery: Delivery, lease: Lease, cause: unknown): Conclusion {
  lease.abandon();
  const message =
    'The connection closed before your answer was sent completely; the event is released when its lease ends.';
  return { kind: 'failed', delivery, error: new WebhookError('handler_failed', { message, cause }) };
}

/** Returns 200, or the 2xx that a handler returns. Other return values are ignored. */
function statusOf(result: unknown): number {
  const status = (result as { status?: unknown } | undefined | null)?.status;
  if (typeof status !== 'number') return 200;
  if (Number.isInteger(status) && isAcknowledged({ status })) return status;
  throw new RangeError(
    `The handler returned status ${status}, which is not 2xx. To refuse a delivery, throw an error.`,
  );
}
