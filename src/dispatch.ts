import type { Deadline } from './deadline.js';
import type { Claim } from './dedupe.js';
import { failureOf, isWebhookError, WebhookError } from './errors.js';
import type { Handler, HandlerContext } from './options.js';
import type { Answer, Notice } from './outcome.js';
import type { Delivery } from './verify.js';

/** How work on a claimed delivery can end. */
type Conclusion = Extract<Answer, { kind: 'handled' | 'in_progress' | 'rejected' | 'failed' }>;

/**
 * Runs the handler and settles its claim. Past the deadline it answers without it: the handler goes on, its claim is
 * kept alive, and what comes of it is recorded and noticed. Never rejects.
 */
export async function dispatch(
  handler: Handler,
  context: HandlerContext,
  claim: Claim,
  { over }: Deadline,
  notify: (notice: Notice) => void,
): Promise<Answer> {
  const { delivery } = context;
  const conclude = run(handler, context, claim);
  const inTime = await Promise.race([conclude, over]);
  if (inTime) return await inTime();
  conclude
    .then((late) => late())
    .then(({ kind, error }) => notify({ kind: 'late_result', delivery, result: kind, error }));
  return {
    kind: 'past_deadline',
    delivery,
    error: new WebhookError('handler_timeout', 503, 'Queue long work: status 202.'),
  };
}

/** To the moment when the handler ends; how to settle its claim then. */
async function run(handler: Handler, context: HandlerContext, claim: Claim): Promise<() => Promise<Conclusion>> {
  const { delivery } = context;
  try {
    const status = statusOf(await handler(delivery.event, context));
    return () => succeed(delivery, claim, status);
  } catch (error) {
    return () => fail(delivery, claim, error);
  }
}

/** The work is done: 2xx, whatever becomes of its record. */
export async function succeed(delivery: Delivery, claim: Claim, status: number): Promise<Conclusion> {
  await claim.end('complete');
  return { kind: 'handled', delivery, attempt: claim.attempt, fence: claim.fence, status };
}

/** Released for the next attempt, unless a PermanentError says that there is no use in one. */
export async function fail(delivery: Delivery, claim: Claim, thrown: unknown): Promise<Conclusion> {
  const error = isWebhookError(thrown) ? thrown : undefined;
  if (error?.code === 'permanent_failure') {
    await claim.end('complete');
    return { kind: 'rejected', delivery, error };
  }
  await claim.end('release');
  // From an inbox: another attempt holds the event in a transaction that is still open.
  if (error?.code === 'delivery_in_progress') return { kind: 'in_progress', delivery, retryAfterMs: 1_000, error };
  return { kind: 'failed', delivery, error: failureOf('handler_failed', 500, thrown) };
}

/** 200, or the 2xx a handler asks for. Whatever else it returns is its own business. */
function statusOf(result: unknown): number {
  const status = (result as { status?: unknown } | undefined | null)?.status;
  if (typeof status !== 'number') return 200;
  if (/^2\d\d$/.test(`${status}`)) return status;
  throw new RangeError(`status ${status}: to refuse, throw`);
}
