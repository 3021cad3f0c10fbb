import type { ServerResponse } from 'node:http';
import {
  type BegunDelivery,
  isWebhookError,
  type Receiver,
  type WebhookRequest,
  type WebhookResponse,
} from 'service-webhooks';
import { type AnswerForm, routeNotBegun } from './answer-by-route.js';
import { type OnResponseEnd, type WatchedResponse, watchResponse } from './watch-response.js';

/** How a framework answers on Node's own response. */
export interface OnNodeForm<Answer> extends AnswerForm<Answer> {
  /** Reports an end that the response itself does not report. */
  watchMore?(onEnd: OnResponseEnd): void;
}

/**
 * Lets a route answer a delivery on Node's own response, and ends the claim by what was sent. The route does not run
 * where the sender has left, or other code has refused the delivery, by then.
 */
export async function answerOnNode<Answer>(
  receiver: Receiver,
  request: WebhookRequest,
  res: ServerResponse,
  route: (begun: BegunDelivery) => Answer | Promise<Answer>,
  { toAnswer, handlesErrors = false, watchMore }: OnNodeForm<Answer>,
): Promise<Answer> {
  const response = watchResponse(res, watchMore);
  const begun = await receiver.begin(request);
  if ('response' in begun) return toAnswer(begun.response);
  if (response.isLost()) return toAnswer(await begun.settle('failed', routeNotBegun()));
  begun.settlesLater();
  const working = work(route, begun);
  const settled = settleByResponse(response, working, begun);

  const worked = await working;
  if (!worked.failed) return worked.answer;
  const { error, passOn } = worked;
  // A framework that handles errors also finishes an answer that has begun.
  const isAnswered = handlesErrors ? res.headersSent : res.writableEnded;
  if (isAnswered) {
    // The answer's end settles the claim. After a 2xx, the error is only reported, as late_result.
    const reported = settled.then(() => begun.settle('failed', error));
    return handlesErrors ? passOn() : toAnswer(await reported);
  }
  if (handlesErrors && !isWebhookError(error)) return passOn();
  return toAnswer(await begun.settle('failed', error));
}

/** How a route ended: with an answer, or with an error that it threw or returned. */
type Worked<Answer> = { failed: false; answer: Answer } | { failed: true; error: unknown; passOn(): Answer };

async function work<Answer>(
  route: (begun: BegunDelivery) => Answer | Promise<Answer>,
  begun: BegunDelivery,
): Promise<Worked<Answer>> {
  try {
    const answer = await route(begun);
    return answer instanceof Error ? { failed: true, error: answer, passOn: () => answer } : { failed: false, answer };
  } catch (error) {
    const passOn = () => {
      throw error;
    };
    return { failed: true, error, passOn };
  }
}

/** Without a whole 2xx the claim lasts as long as the route works, so that no other attempt runs at the same time. */
async function settleByResponse(
  { over }: WatchedResponse,
  working: Promise<Worked<unknown>>,
  begun: BegunDelivery,
): Promise<WebhookResponse> {
  const { ended, error } = await over;
  if (ended === 'ok') return begun.settle('ok');
  const worked = await working;
  return worked.failed ? begun.settle('failed', worked.error) : begun.settle(ended, error);
}
