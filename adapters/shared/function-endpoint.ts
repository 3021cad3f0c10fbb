import type {
  Delivery,
  EndpointOptions,
  HandlerContext,
  MiddlewareOptions,
  Receiver,
  WebhookRequest,
} from 'service-webhooks';
import { type AnswerForm, answerByRoute, type ReadAnswer } from './answer-by-route.js';
import { type Caller, calledBy } from './called-by.js';
import { endpointReceiver, routeReceiver } from './to-receiver.js';

/** The requests and answers of a platform that calls a function with a request and sends the answer that it returns. */
export interface FunctionForm<Request, Answer> extends AnswerForm<Answer> {
  toRequest(request: Request): WebhookRequest;
  /** What the platform calls the function with. */
  callers: readonly Caller[];
  /** Reads an answer as the platform will send it. */
  read(answer: Answer, request: Request): ReadAnswer<Answer>;
}

/** Makes the answer to a verified and claimed delivery. */
export type FunctionRoute<Request, Answer> = (
  request: Request,
  delivery: Delivery,
  context: HandlerContext,
) => Answer | Promise<Answer>;

/** Returns an endpoint from the request of a platform to its answer. */
export function functionHandler<Request, Answer>(
  receiverOrOptions: Receiver | EndpointOptions,
  { toRequest, toAnswer, callers }: Pick<FunctionForm<Request, Answer>, 'toRequest' | 'toAnswer' | 'callers'>,
): (request: Request) => Promise<Answer> {
  const receiver = endpointReceiver(receiverOrOptions);
  return calledBy(callers, receiver, async (request: Request) => toAnswer(await receiver(toRequest(request))));
}

/** Returns an endpoint whose `route` makes the answer to a verified and claimed delivery. */
export function functionMiddleware<Request, Answer>(
  receiverOrOptions: Receiver | MiddlewareOptions,
  route: FunctionRoute<Request, Answer>,
  form: FunctionForm<Request, Answer>,
): (request: Request) => Promise<Answer> {
  const receiver = routeReceiver(receiverOrOptions, route);
  return calledBy(form.callers, receiver, (request: Request) =>
    answerByRoute<Answer>(
      receiver,
      form.toRequest(request),
      ({ delivery, context }) => route(request, delivery, context),
      { ...form, read: (answer) => form.read(answer, request) },
    ),
  );
}
