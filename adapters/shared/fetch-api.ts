import type { WebhookRequest } from 'service-webhooks';
import type { ReadAnswer } from './answer-by-route.js';
import type { FunctionForm, FunctionRoute } from './function-endpoint.js';
import { toFetchResponse } from './to-fetch-response.js';

export type FetchHandler = (request: Request) => Promise<Response>;
export type FetchRoute = FunctionRoute<Request, Response>;

/** Returns the form of Fetch. `rawBodyFix` says how to keep the raw body in this framework. */
export function fetchForm(rawBodyFix: string): FunctionForm<Request, Response> {
  return {
    toRequest: (request) => fromFetchRequest(request, rawBodyFix),
    toAnswer: toFetchResponse,
    callers: ['fetch'],
    read: readResponse,
  };
}

export function fromFetchRequest(request: Request, rawBodyFix: string): WebhookRequest {
  const { method, headers, bodyUsed, signal } = request;
  const body = bodyUsed ? undefined : (request.body as WebhookRequest['body']);
  return { method, headers, body, signal, rawBodyFix };
}

/** @throws TypeError for a value that is not a Response */
export function readResponse(response: Response): ReadAnswer<Response> {
  if (!isResponse(response))
    throw new TypeError('the route returned no Response: return a Response in every case, such as Response.json({})');
  const { status, body } = response;
  if (status === 204 || status === 205) return { status }; // no body is sent
  return { status, stream: { body, replace: (other) => new Response(other as ReadableStream, response) } };
}

/** Recognises a Response by its members, because one of a polyfill is not an instance of the global class. */
export function isResponse(value: unknown): value is Response {
  const { status, headers, arrayBuffer } = (value ?? {}) as Partial<Response>;
  return typeof status === 'number' && headers !== undefined && typeof arrayBuffer === 'function';
}
