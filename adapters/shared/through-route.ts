import {
  type BegunDelivery,
  isWebhookError,
  type Receiver,
  type WebhookRequest,
  type WebhookResponse,
} from 'service-webhooks';

/** How a framework without `next()` represents answers. */
export interface AnswerForm<Answer> {
  statusOf(answer: Answer): number;
  toAnswer(response: WebhookResponse): Answer;
  /** Whether the framework answers errors of a route itself. */
  takesErrors?: boolean;
}

/** Lets a route answer a delivery, and settles the claim by the status of that answer. */
export async function throughRoute<Answer>(
  receiver: Receiver,
  request: WebhookRequest,
  route: (begun: BegunDelivery) => Answer | Promise<Answer>,
  { statusOf, toAnswer, takesErrors = false }: AnswerForm<Answer>,
): Promise<Answer> {
  const begun = await receiver.begin(request);
  if ('response' in begun) return toAnswer(begun.response);
  try {
    const answer = await route(begun);
    const status = statusOf(answer);
    const ended = request.signal?.aborted ? 'unknown' : isSuccess(status) ? 'ok' : 'failed';
    await begun.settle(ended, new Error(`the route answered ${status}`));
    return answer;
  } catch (error) {
    const response = await begun.settle('failed', error);
    if (takesErrors && !isWebhookError(error)) throw error;
    return toAnswer(response);
  }
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}
