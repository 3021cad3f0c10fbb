import type { Lease } from '../dedupe/lease.js';
import { WebhookError } from '../errors.js';
import type { Delivery } from '../verify/verify.js';
import type { Deadline } from './deadline.js';
import type { Handler, HandlerContext } from './handlers.js';
import type { Decision, Notice } from './outcome.js';
import { runHandler } from './run-handler.js';

/** A claimed delivery, for the handler, the queue or the middleware that works on it. */
export interface ClaimedDelivery {
  delivery: Delivery;
  context: HandlerContext;
  lease: Lease;
  deadline: Deadline;
}

/**
 * Runs the handler and settles its claim. At the deadline it decides without the handler, which continues: its claim is
 * renewed, its result is recorded, and a notice reports it. Never rejects.
 */
export async function dispatch(
  handler: Handler,
  { delivery, context, lease, deadline }: ClaimedDelivery,
  notify: (notice: Notice) => void,
): Promise<Decision> {
  const ended = runHandler(handler, context);
  // Only the handler must meet the deadline: a result in time is answered, however long it takes to record it.
  const first = await Promise.race([ended, deadline.passed]);
  if (first !== 'passed') return settle(lease, first.decision);
  ended.then(async ({ decision }) => {
    const { kind, error } = await settle(lease, decision);
    notify({ kind: 'late_result', delivery, result: kind, error });
  });
  const message = `Your handler is still running at deadlineMs (${deadline.ms} ms). It goes on, and its result is recorded.`;
  return { kind: 'past_deadline', delivery, error: new WebhookError('handler_timeout', { message }) };
}

/** The decisions that need no further attempt. The others release the event. */
const DONE: readonly Decision['kind'][] = ['handled', 'discarded', 'queued', 'known'];

/** Ends a claim as it was decided: the event is done, whether or not that can be recorded, or the next attempt may run. */
export async function settle<D extends Decision>(lease: Lease, decision: D): Promise<D> {
  await (DONE.includes(decision.kind) ? lease.complete() : lease.release());
  return decision;
}

/** Leaves the claim to its lease: the connection closed before the response was sent, so the work may be done or not. */
export function abandon(delivery: Delivery, lease: Lease, cause: unknown): Decision {
  lease.abandon();
  const message =
    'The connection closed before your answer was sent completely; the event is released when its lease ends.';
  return { kind: 'failed', delivery, error: new WebhookError('handler_failed', { message, cause }) };
}
