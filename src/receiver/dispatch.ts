import type { Background } from '../background.js';
import { WebhookError } from '../errors.js';
import { type ClaimedDelivery, contextOf, settle } from './claimed-delivery.js';
import type { Handler } from './handlers.js';
import type { Decision, Notice } from './outcome.js';
import { type HandlerEnd, runHandler } from './run-handler.js';

/**
 * Runs the handler and settles its claim. At the deadline it decides without the handler, which continues: its claim is
 * renewed, its result is recorded, and a notice reports it. Never rejects.
 */
export async function dispatch(
  handler: Handler,
  claimed: ClaimedDelivery,
  notify: (notice: Notice) => void,
  background: Background,
): Promise<Decision> {
  const { delivery, deadline } = claimed;
  const ended = runHandler(handler, await contextOf(claimed));
  // Only the handler must meet the deadline: recording its result may take 2 s more, which the service's 20 s allow.
  const inTime = await new Promise<HandlerEnd | undefined>((resolve) => {
    ended.then(resolve);
    deadline.whenPassed(() => resolve(undefined));
  });
  if (inTime) return settle(claimed, inTime.decision);
  const late = ended.then(async ({ decision }) => {
    const { kind, error } = await settle(claimed, decision);
    notify({ kind: 'late_result', delivery, result: kind, error });
  });
  background(late);
  const message = `Your handler is still running at deadlineMs (${deadline.ms} ms). It goes on, and its result is recorded.`;
  return { kind: 'past_deadline', delivery, error: new WebhookError('handler_timeout', { message }) };
}
