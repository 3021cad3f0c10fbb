import type { Deadline } from './deadline.js';
import type { Claim } from './dedupe.js';
import { failureOf, isWebhookError, WebhookError } from './errors.js';
import type { Handler, HandlerContext } from './options.js';
import type { Answer, Notice } from './outcome.js';
import type { Delivery } from './verify.js';

/** A delivery that is claimed, for whoever handles it. */
export interface Claimed {
  context: HandlerContext;
  claim: Claim;
  deadline: Deadline;
}

/** How work on a claimed delivery can end. */
type Conclusion = Extract<Answer, { kind: 'handled' | 'in_progress' | 'rejected' | 'failed' }>;

/**
 * Runs the handler and settles its claim. Past the deadline it answers without it: the handler goes on, its claim is
 * kept alive, and what comes of it is recorded and noticed. Never rejects.
 */
export function dispatch(
  handler: Handler,
  { context, claim, deadline }: Claimed,
  notify: (notice: Notice) => void,
): Promise<Answer> {
  const { delivery } = context;
  return new Promise((answer) => {
    const giveUp = () => {
      answer({
        kind: 'past_deadline',
        delivery,
        error: new WebhookError('handler_timeout', 503, 'Queue the work.'),
      });
    };
    deadline.late = giveUp;
    if (deadline.over) giveUp();
    (async () => {
      let conclusion: Promise<Conclusion>;
      try {
        const status = statusOf(await handler(delivery.event, context));
        conclusion = succeed(delivery, claim, status);
      } catch (error) {
        conclusion = fail(delivery, claim, error);
      }
      const over = deadline.over;
      deadline.late = undefined; // what is done in time is answered, however long it takes to be recorded
      const concluded = await conclusion;
      if (over) notify({ kind: 'late_result', delivery, result: concluded.kind, error: concluded.error });
      else answer(concluded);
    })();
  });
}

/** The work is done: 2xx, whatever becomes of its record. */
export function succeed(delivery: Delivery, claim: Claim, status: number): Promise<Conclusion> {
  return claim
    .end('complete')
    .then(() => ({ kind: 'handled', delivery, attempt: claim.attempt, fence: claim.fence, status }));
}

/**
 * Released for the next attempt, unless a PermanentError says that there is no use in one. Where the end is unknown, the
 * lease decides.
 */
export async function fail(
  delivery: Delivery,
  claim: Claim,
  thrown: unknown,
  ended: 'failed' | 'unknown' = 'failed',
): Promise<Conclusion> {
  const error = ended === 'failed' && isWebhookError(thrown) ? thrown : undefined;
  if (error?.code === 'permanent_failure') {
    await claim.end('complete');
    return { kind: 'rejected', delivery, error };
  }
  await claim.end(ended === 'failed' ? 'release' : undefined);
  // From an inbox: another attempt holds the event in a transaction that is still open.
  if (error?.code === 'delivery_in_progress') return { kind: 'in_progress', delivery, retryAfterMs: 1_000, error };
  const found = ended === 'failed' ? '' : 'connection closed';
  return { kind: 'failed', delivery, error: failureOf('handler_failed', 500, thrown, found) };
}

/** 200, or the 2xx a handler asks for. Whatever else it returns is its own business. */
function statusOf(result: unknown): number {
  const status = (result as { status?: unknown } | undefined | null)?.status;
  if (typeof status !== 'number') return 200;
  if (/^2\d\d$/.test(`${status}`)) return status;
  throw new RangeError(`status ${status}: to refuse, throw`);
}
