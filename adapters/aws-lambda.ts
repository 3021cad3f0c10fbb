import type { EndpointOptions, MiddlewareOptions, Receiver, WebhookRequest, WebhookResponse } from 'service-webhooks';
import { type FunctionRoute, functionHandler, functionMiddleware } from './shared/function-endpoint.js';

const RAW_BODY_FIX = 'Use the proxy integration (LAMBDA_PROXY), which passes the body unchanged.';

/**
 * The fields that the adapter reads from an event of API Gateway (payload format 1.0 or 2.0), a function URL or a load
 * balancer.
 */
export interface LambdaEvent {
  httpMethod?: string | undefined;
  requestContext?: { http?: { method: string } | undefined } | object | undefined;
  headers?: Readonly<Record<string, string | undefined>> | null | undefined;
  multiValueHeaders?: Readonly<Record<string, readonly string[] | null | undefined>> | null | undefined;
  body?: string | null | undefined;
  isBase64Encoded?: boolean | undefined;
}

/** The result that API Gateway, a function URL and a load balancer accept as an answer. */
export interface LambdaResult {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
}

const FORM = {
  toRequest,
  callers: ['awsLambda'],
  toAnswer: ({ status, headers, body }: WebhookResponse): LambdaResult => ({ statusCode: status, headers, body }),
  read: (result: unknown, event: LambdaEvent) => ({ status: statusOf(result, event), json: result }),
} as const;

/**
 * Returns an AWS Lambda function behind API Gateway, a function URL or a load balancer. It verifies each delivery,
 * recognises retries, calls your handler and returns the answer. Pass a shared store: each instance of the function has
 * its own memory. Several routes may share a receiver from `createReceiver`.
 *
 * @throws WebhookError `invalid_secret` or `invalid_option`, when the function is created.
 * @example
 * export const handler = webhookHandler({ secret, on: { 'stt.completed': (event) => save(event.jobId) } });
 */
export function webhookHandler(
  receiverOrOptions: Receiver | EndpointOptions,
): (event: LambdaEvent) => Promise<LambdaResult> {
  return functionHandler(receiverOrOptions, FORM);
}

/**
 * Returns an AWS Lambda function that verifies each delivery, claims it and lets `route` return the result. A 2xx
 * result completes the claim. Any other result, or an error that `route` throws, releases it, and the service retries.
 * Several routes may share a receiver from `createReceiver`.
 *
 * @throws WebhookError `invalid_secret` or `invalid_option`, when the function is created.
 * @example
 * export const handler = webhookMiddleware({ secret }, async (event, delivery) => {
 *   await save(delivery.event);
 *   return { statusCode: 204 };
 * });
 */
export function webhookMiddleware<Event extends LambdaEvent, Result>(
  receiverOrOptions: Receiver | MiddlewareOptions,
  route: FunctionRoute<Event, Result>,
): (event: Event) => Promise<Result | LambdaResult> {
  return functionMiddleware<Event, Result | LambdaResult>(receiverOrOptions, route, FORM);
}

/**
 * A result without a status is answered 200 by format 2.0, and 502 by format 1.0 and by a load balancer. One with a status
 * and a body that is not text is answered 500 or 502.
 */
function statusOf(result: unknown, { httpMethod }: LambdaEvent): number {
  const { statusCode, body } = (result ?? {}) as { statusCode?: unknown; body?: unknown };
  if (statusCode === undefined) return httpMethod === undefined ? 200 : 502;
  return typeof (body ?? '') === 'string' ? Number(statusCode) : 502;
}

function toRequest({ httpMethod, requestContext, headers, ...event }: LambdaEvent): WebhookRequest {
  const { http } = (requestContext ?? {}) as { http?: { method: string } };
  const { body, isBase64Encoded, multiValueHeaders } = event;
  return {
    method: httpMethod ?? http?.method ?? '',
    // `headers` of format 1.0 has only the last value of a repeated header.
    headers: multiValueHeaders ? pairsOf(multiValueHeaders) : (headers ?? {}),
    body: isBase64Encoded && typeof body === 'string' ? Buffer.from(body, 'base64') : (body ?? ''),
    rawBodyFix: RAW_BODY_FIX,
  };
}

function pairsOf(headers: NonNullable<LambdaEvent['multiValueHeaders']>): [name: string, value: string][] {
  return Object.entries(headers).flatMap(([name, values]) =>
    [values ?? []].flat().map((value): [string, string] => [name, value]),
  );
}
