import type { Delivery, HandlerContext, Receiver, ReceiverOptions, WebhookRequest } from 'service-webhooks';
import { checkRoute } from './shared/check-route.js';
import { type AnswerForm, throughRoute } from './shared/through-route.js';
import { toReceiver } from './shared/to-receiver.js';

const RAW_BODY_FIX =
  'Give the receiver the request before await request.json() or request.text(), or a request.clone().';

/** What is read of the request of Azure Functions, programming model 4. */
export interface AzureRequestLike {
  method: string;
  headers: { get(name: string): string | null; append(name: string, value: string): void };
  body: unknown;
  bodyUsed: boolean;
}

/** What Azure Functions takes for an answer. */
export interface AzureResponse {
  status?: number;
  headers?: Record<string, string>;
  body?: string;
}

const FORM: AnswerForm<AzureResponse> = {
  statusOf: (answer: AzureResponse | undefined) => answer?.status ?? 200,
  toAnswer: ({ status, headers, body }) => (body === '' ? { status, headers } : { status, headers, body }),
};

/**
 * An HTTP function for Azure Functions, programming model 4: verifies, deduplicates, dispatches, answers. Give it a
 * shared store: each instance of a function has a memory of its own.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`, when it is made.
 * @example
 * app.http('webhooks', { methods: ['POST'], authLevel: 'anonymous', handler: webhookHandler({ secret, on }) });
 */
export function webhookHandler(
  receiverOrOptions: Receiver | ReceiverOptions,
): (request: AzureRequestLike) => Promise<AzureResponse> {
  const receiver = toReceiver(receiverOrOptions);
  return async (request) => FORM.toAnswer(await receiver(toRequest(request)));
}

/**
 * Verifies and claims, then lets `route` make the response: a 2xx completes the claim, any other, or a throw, releases
 * it. The body has been read: `delivery.body` has it.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`, when it is made.
 * @example
 * handler: webhookMiddleware({ secret }, async (request, { event }) => {
 *   await save(event);
 *   return { status: 204 };
 * })
 */
export function webhookMiddleware<Req extends AzureRequestLike, Res>(
  receiverOrOptions: Receiver | ReceiverOptions,
  route: (request: Req, delivery: Delivery, context: HandlerContext) => Res | Promise<Res>,
): (request: Req) => Promise<Res | AzureResponse> {
  checkRoute(route);
  const receiver = toReceiver(receiverOrOptions);
  return (request) =>
    throughRoute<Res | AzureResponse>(
      receiver,
      toRequest(request),
      ({ delivery, context }) => route(request, delivery, context),
      FORM as AnswerForm<Res | AzureResponse>,
    );
}

function toRequest({ method, headers, body, bodyUsed }: AzureRequestLike): WebhookRequest {
  return { method, headers, body: (bodyUsed ? undefined : body) as WebhookRequest['body'], rawBodyFix: RAW_BODY_FIX };
}
