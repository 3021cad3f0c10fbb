import type {
  Delivery,
  EndpointOptions,
  HandlerContext,
  MiddlewareOptions,
  Receiver,
  WebhookRequest,
} from 'service-webhooks';
import { type AnswerForm, answerByRoute, type ReadAnswer } from './answer-by-route.js';
import { endpointReceiver, routeReceiver } from './to-receiver.js';

/** The requests and answers of a platform that calls a function with a request and sends the answer that it returns. */
export interface FunctionForm<Request, Answer> extends AnswerForm<Answer> {
  toRequest(request: Request): WebhookRequest;
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
  { toRequest, toAnswer }: Pick<FunctionForm<Request, Answer>, 'toRequest' | 'toAnswer'>,
): (request: Request) => Promise<Answer> {
  const receiver = endpointReceiver(receiverOrOptions);
  return async (request) => toAnswer(await receiver(toRequest(request)));
}

/** Returns an endpoint whose `route` makes the answer to a verified and claimed delivery. */
export function functionMiddleware<Request, Answer>(
  receiverOrOptions: Receiver | MiddlewareOptions,
  route: FunctionRoute<Request, Answer>,
  form: FunctionForm<Request, Answer>,
): (request: Request) => Promise<Answer> {
  const receiver = routeReceiver(receiverOrOptions, route);
  return (request) =>
    answerByRoute<Answer>(
      receiver,
      form.toRequest(request),
      ({ delivery, context }) => route(request, delivery, context),
      { ...form, read: (answer) => form.read(answer, request) },
    );
}
