import type { Lease } from '../dedupe/lease.js';
import { purposeKeys } from '../endpoint.js';
import { WebhookError } from '../errors.js';
import type { Delivery } from '../verify/verify.js';
import type { Deadline } from './deadline.js';
import type { HandlerContext } from './handlers.js';
import type { Decision } from './outcome.js';

/** A claimed delivery, for the handler, the queue or the middleware that works on it. */
export interface ClaimedDelivery {
  delivery: Delivery;
  lease: Lease;
  deadline: Deadline;
  /** The name of the endpoint. */
  endpoint: string | undefined;
  /** Called once, when the claim ends. */
  ended?(): void;
}

/** Resolves to the context of the handler or the route that works on a delivery. */
export async function contextOf({ delivery, lease, deadline, endpoint }: ClaimedDelivery): Promise<HandlerContext> {
  const keyFor = await purposeKeys(delivery, endpoint);
  return { delivery, signal: deadline.signal(), attempt: lease.attempt, fence: lease.fence, endpoint, keyFor };
}

/** The decisions that need no further attempt. The others release the event. */
const DONE: readonly Decision['kind'][] = ['handled', 'discarded', 'queued', 'known'];

/** Completes the claim where the decision needs no further attempt, otherwise releases it. Never rejects. */
export async function settle<D extends Decision>(
  { lease, ended }: Pick<ClaimedDelivery, 'lease' | 'ended'>,
  decision: D,
): Promise<D> {
  ended?.();
  if (!DONE.includes(decision.kind)) await lease.release();
  else await lease.complete(decision.kind === 'handled' ? 'handled' : 'not_handled');
  return decision;
}

/** Leaves the claim to its lease: the connection closed before the response was sent, so the work may be done or not. */
export function abandon({ delivery, lease, ended }: ClaimedDelivery, cause: unknown): Decision {
  ended?.();
  lease.abandon();
  const message =
    'The connection closed before your answer was sent completely; the event is released when its lease ends.';
  return { kind: 'failed', delivery, error: new WebhookError('handler_failed', { message, cause }) };
}
