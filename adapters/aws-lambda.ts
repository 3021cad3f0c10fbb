import type { Delivery, HandlerContext, Receiver, ReceiverOptions, WebhookRequest } from 'service-webhooks';
import { checkRoute } from './shared/check-route.js';
import { type AnswerForm, throughRoute } from './shared/through-route.js';
import { toReceiver } from './shared/to-receiver.js';

const RAW_BODY_FIX = 'Use the proxy integration (LAMBDA_PROXY), which hands the body over as it came.';

/** What is read of the event of API Gateway (format 1.0 and 2.0), a function URL, or a load balancer. */
export interface LambdaEvent {
  httpMethod?: string | undefined;
  requestContext?: { http?: { method: string } | undefined } | object | undefined;
  headers?: Readonly<Record<string, string | undefined>> | null | undefined;
  multiValueHeaders?: Readonly<Record<string, readonly string[] | undefined>> | null | undefined;
  body?: string | null | undefined;
  isBase64Encoded?: boolean | undefined;
}

/** What each of them takes for an answer. */
export interface LambdaResult {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
}

const FORM: AnswerForm<LambdaResult> = {
  // Format 2.0 takes an answer without a status for 200.
  statusOf: (answer: Partial<LambdaResult> | undefined) => answer?.statusCode ?? 200,
  toAnswer: ({ status, headers, body }) => ({ statusCode: status, headers, body }),
};

/**
 * An endpoint for AWS Lambda behind API Gateway, a function URL or a load balancer: verifies, deduplicates, dispatches,
 * answers. Give it a shared store: each instance of a function has a memory of its own.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`, when it is made.
 * @example
 * export const handler = webhookHandler({ secret, on: { 'stt.completed': (event) => save(event.jobId) } });
 */
export function webhookHandler(
  receiverOrOptions: Receiver | ReceiverOptions,
): (event: LambdaEvent) => Promise<LambdaResult> {
  const receiver = toReceiver(receiverOrOptions);
  return async (event) => FORM.toAnswer(await receiver(toRequest(event)));
}

/**
 * Verifies and claims, then lets `route` make the result: a 2xx completes the claim, any other, or a throw, releases it.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`, when it is made.
 * @example
 * export const handler = webhookMiddleware({ secret }, async (event, delivery) => {
 *   await save(delivery.event);
 *   return { statusCode: 204 };
 * });
 */
export function webhookMiddleware<Event extends LambdaEvent, Result>(
  receiverOrOptions: Receiver | ReceiverOptions,
  route: (event: Event, delivery: Delivery, context: HandlerContext) => Result | Promise<Result>,
): (event: Event) => Promise<Result | LambdaResult> {
  checkRoute(route);
  const receiver = toReceiver(receiverOrOptions);
  return (event) =>
    throughRoute<Result | LambdaResult>(
      receiver,
      toRequest(event),
      ({ delivery, context }) => route(event, delivery, context),
      FORM as AnswerForm<Result | LambdaResult>,
    );
}

function toRequest({ httpMethod, requestContext, headers, ...event }: LambdaEvent): WebhookRequest {
  const { http } = (requestContext ?? {}) as { http?: { method: string } };
  const { body, isBase64Encoded, multiValueHeaders } = event;
  return {
    method: httpMethod ?? http?.method ?? '',
    // `headers` of format 1.0 has only the last of those that came twice.
    headers: multiValueHeaders ? pairsOf(multiValueHeaders) : (headers ?? {}),
    body: isBase64Encoded && typeof body === 'string' ? Buffer.from(body, 'base64') : (body ?? ''),
    rawBodyFix: RAW_BODY_FIX,
  };
}

function pairsOf(headers: NonNullable<LambdaEvent['multiValueHeaders']>): [name: string, value: string][] {
  return Object.entries(headers).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
}
