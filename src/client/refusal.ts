import { API_ERRORS, type ApiErrorCode, NOTHING_DONE, retryOf } from '../service/api-errors.js';
import { failed, type Try } from './attempt.js';
import type { CallError, CallFailure } from './call-error.js';
import { describe, type Incoming } from './incoming.js';
import { NO_JSON, parseJson } from './json.js';
import type { ReadyOptions } from './options.js';
import { readRetryAfter } from './retry.js';
import { ServiceApiError } from './service-api-error.js';

/** What an answer of 400 and above is about: the service's error object, or whatever else answered in its place. */
export function readRefusal(incoming: Incoming, request: Try, options: ReadyOptions): CallError {
  const { status, headers, text } = incoming;
  const { redact, now } = options;
  const value = parseJson(text);
  const error = fields(fields(value)['error']);
  const field = (name: string) => (typeof error[name] === 'string' ? redact(error[name]) : undefined);
  const code = field('code');
  const failure = {
    status,
    requestId: field('request_id') ?? (redact(headers.get('x-request-id') ?? '') || undefined),
    retryAfter: readRetryAfter(headers.get('retry-after'), now()),
    retry: retryOf(status, code),
    nothingDone: status < 500 || (NOTHING_DONE as readonly unknown[]).includes(code),
    attempts: request.attempts,
  } satisfies CallFailure;
  if (code === undefined) {
    const isJson = value !== undefined && value !== NO_JSON;
    return failed(request, isJson ? 'unexpected_answer' : 'not_json', describe(incoming, redact), failure);
  }
  const row = Object.hasOwn(API_ERRORS, code) ? API_ERRORS[code as ApiErrorCode] : undefined;
  const [type, message] = [field('type') ?? row?.type ?? '', field('message') ?? row?.condition ?? code];
  return new ServiceApiError({ type, code, message, docUrl: field('doc_url'), param: field('param') }, failure);
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
