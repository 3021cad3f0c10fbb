import {
  type BegunDelivery,
  isWebhookError,
  type Receiver,
  WebhookError,
  type WebhookRequest,
  type WebhookResponse,
} from 'service-webhooks';
import { watchBody } from './watch-body.js';

/** How a framework takes the answer to a refused delivery, and what it does with the errors of a route. */
export interface AnswerForm<Answer> {
  toAnswer(response: WebhookResponse): Answer;
  /** Whether the framework answers errors of a route itself, thrown and returned ones. Default: false. */
  handlesErrors?: boolean;
}

/** How a framework sends the answers that its routes return. */
export interface ReturnedForm<Answer> extends AnswerForm<Answer> {
  /** Reads an answer as the framework will send it. */
  read(answer: Answer): ReadAnswer<Answer>;
}

/** What a framework sends for an answer. */
export interface ReadAnswer<Answer> {
  status: number;
  /** The error for which the framework sends this answer. */
  error?: unknown;
  /** The data that the framework sends as JSON. If it cannot be serialised, the route has failed. */
  json?: unknown;
  stream?: AnswerStream<Answer>;
}

/** The part of an answer that may be a stream, and how to put another stream in its place. */
export interface AnswerStream<Answer> {
  body: unknown;
  replace(body: unknown): Answer;
}

/**
 * Lets a route return the answer to a delivery, and ends the claim by what was sent: a body that is a stream must have
 * been read to its end. The route does not run where the sender has left by then.
 */
export async function answerByRoute<Answer>(
  receiver: Receiver,
  request: WebhookRequest,
  route: (begun: BegunDelivery) => Answer | Promise<Answer>,
  { toAnswer, read, handlesErrors = false }: ReturnedForm<Answer>,
): Promise<Answer> {
  const begun = await receiver.begin(request);
  if ('response' in begun) return toAnswer(begun.response);
  const hasLeft = () => request.signal?.aborted === true;
  if (hasLeft()) return toAnswer(await begun.settle('failed', routeNotBegun()));
  try {
    const answer = await route(begun);
    if (!handlesErrors && answer instanceof Error) throw answer;
    const { status, error, json, stream } = read(answer);
    JSON.stringify(json); // throws for data that the framework could not send
    if (!isSuccess(status)) {
      const response = await begun.settle('failed', error ?? new Error(`the route answered ${status}`));
      return isWebhookError(error) ? toAnswer(response) : answer;
    }
    const watched = stream && watchBody(stream.body, (ended, cause) => begun.settle(ended, cause));
    request.signal?.addEventListener('abort', () => begun.settle('unknown'), { once: true });
    if (hasLeft()) await begun.settle('unknown');
    else if (watched === undefined) await begun.settle('ok');
    else begun.settlesLater();
    return stream && watched !== undefined && watched !== stream.body ? stream.replace(watched) : answer;
  } catch (error) {
    const response = await begun.settle('failed', error);
    if (handlesErrors && !isWebhookError(error)) throw error;
    return toAnswer(response);
  }
}

/** Returns whether a status acknowledges a delivery: any 2xx. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

/** Returns the error of a claimed delivery whose route must not begin. */
export function routeNotBegun(): WebhookError {
  return new WebhookError('handler_failed', {
    message: 'The sender disconnected, or other code answered it, before your route began; the event is released.',
    hint: 'If this happens often, check the timeouts of your app and your proxy, and how fast the dedupe store answers.',
  });
}
