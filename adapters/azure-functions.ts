import type { EndpointOptions, MiddlewareOptions, Receiver, WebhookRequest, WebhookResponse } from 'service-webhooks';
import type { ReadAnswer } from './shared/answer-by-route.js';
import { type FunctionRoute, functionHandler, functionMiddleware } from './shared/function-endpoint.js';

const RAW_BODY_FIX =
  'Give the receiver the request before await request.json() or request.text(), or a request.clone().';

/** The fields that the adapter reads from a request of Azure Functions, programming model 4. */
export interface AzureRequestLike {
  method: string;
  headers: { get(name: string): string | null; append(name: string, value: string): void };
  body: unknown;
  bodyUsed: boolean;
}

/** The response that Azure Functions accept from an HTTP function. */
export interface AzureResponse {
  status?: number;
  headers?: Record<string, string>;
  body?: string;
}

const FORM = {
  toRequest,
  callers: ['azureFunctions', 'fetch'],
  toAnswer: ({ status, headers, body }: WebhookResponse): AzureResponse =>
    body === '' ? { status, headers } : { status, headers, body },
  read: readAnswer,
} as const;

/**
 * Returns an HTTP function for Azure Functions, programming model 4. It verifies each delivery, recognises retries,
 * calls your handler and returns the answer. Pass a shared store: each instance of the function has its own memory.
 * Several routes may share a receiver from `createReceiver`.
 *
 * @throws WebhookError `invalid_secret` or `invalid_option`, when the function is created.
 * @example
 * app.http('webhooks', { methods: ['POST'], authLevel: 'anonymous', handler: webhookHandler({ secret, on }) });
 */
export function webhookHandler(
  receiverOrOptions: Receiver | EndpointOptions,
): (request: AzureRequestLike) => Promise<AzureResponse> {
  return functionHandler(receiverOrOptions, FORM);
}

/**
 * Returns an HTTP function that verifies each delivery, claims it and lets `route` return the response. A 2xx response
 * completes the claim. Any other response, or an error that `route` throws, releases it, and the service retries. The
 * request's body is already read: use `delivery.body`. Several routes may share a receiver from `createReceiver`.
 *
 * @throws WebhookError `invalid_secret` or `invalid_option`, when the function is created.
 * @example
 * const handler = webhookMiddleware({ secret }, async (request, { event }) => {
 *   await save(event);
 *   return { status: 204 };
 * });
 * app.http('webhooks', { methods: ['POST'], authLevel: 'anonymous', handler });
 */
export function webhookMiddleware<Req extends AzureRequestLike, Res>(
  receiverOrOptions: Receiver | MiddlewareOptions,
  route: FunctionRoute<Req, Res>,
): (request: Req) => Promise<Res | AzureResponse> {
  return functionMiddleware<Req, Res | AzureResponse>(receiverOrOptions, route, FORM);
}

function toRequest({ method, headers, body, bodyUsed }: AzureRequestLike): WebhookRequest {
  return { method, headers, body: (bodyUsed ? undefined : body) as WebhookRequest['body'], rawBodyFix: RAW_BODY_FIX };
}

function readAnswer(answer: unknown): ReadAnswer<AzureResponse> {
  if (typeof (answer ?? {}) !== 'object')
    throw new TypeError(`the route returned a ${typeof answer}: return an object such as { status: 204 }`);
  const response = (answer ?? {}) as AzureResponse & { cookies?: unknown; jsonBody?: unknown };
  const { status = 200, headers, cookies, jsonBody, body } = response;
  if (jsonBody !== undefined && jsonBody !== null) return { status, json: jsonBody };
  // Azure's own class has getters, which a spread does not copy.
  const replace = (other: unknown) => ({ ...response, status, headers, cookies, body: other }) as AzureResponse;
  return { status, stream: { body, replace } };
}
