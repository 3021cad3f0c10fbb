import { printable } from '../printable.js';
import { API_ERRORS, isApiErrorCode, NOTHING_DONE, retryOf } from '../service/api-errors.js';
import { isObject, parseJson, type Shape, wrongField } from './answer-data.js';
import type { Attempt, Incoming } from './attempt.js';
import { type CallError, type CallFailure, callFailed, ServiceApiError } from './errors.js';
import type { ReadyOptions } from './options.js';
import { type RateState, readRate, readRetryAfter } from './rate-limits.js';
import type { Redact } from './redact.js';

/** The result of a call. */
export interface Answer<T = unknown> {
  /** The parsed JSON; undefined for an empty body. A `signing_secret` in it is a {@link SigningSecret}. */
  data: T;
  /** HTTP status. */
  status: number;
  /** The id of the request, which the service's support asks for. */
  requestId: string | undefined;
  /** Whether the key is a sandbox key. Output that a sandbox key generates is a sample. */
  sandbox: boolean;
  /** The rate limits in the answer's headers; undefined where it has none. */
  rate: RateState | undefined;
  /** The number of times the request was sent. */
  attempts: number;
}

/**
 * Returns a successful answer.
 *
 * @throws ServiceApiError for an error object of the service; ClientError `redirected`, `not_json`, `unexpected_answer`
 */
export function readAnswer(incoming: Incoming, attempt: Attempt, options: ReadyOptions, shape: Shape = {}): Answer {
  const { status, headers, text } = incoming;
  // In a browser a redirect that is not followed has the status 0.
  if (status === 0 || (status >= 300 && status < 400)) {
    const target = options.redact(originOf(headers.get('location') ?? '', attempt.url));
    const found = `the answer is a redirect (status ${status}) to ${target}`;
    throw callFailed(attempt, 'redirected', found, { status });
  }
  if (status >= 400) throw readRefusal(incoming, attempt, options);
  const json = parseJson(text);
  if (json === undefined) {
    throw callFailed(attempt, 'not_json', `the answer is not JSON: ${describe(incoming, options.redact)}`, { status });
  }
  const requestId = requestIdIn(headers, options.redact);
  const field = wrongField(json.value, shape);
  if (field !== undefined) {
    const found = `the answer (status ${status}) has no ${field}`;
    throw callFailed(attempt, 'unexpected_answer', found, { status, requestId });
  }
  return {
    data: json.value,
    status,
    requestId,
    sandbox: headers.get(`${options.headerPrefix}-sandbox`) === 'true',
    rate: readRate(headers, options.redact),
    attempts: attempt.attempts,
  };
}

/** Returns the error of an answer of 400 and above: the service's own, or that of another server in its place. */
function readRefusal(incoming: Incoming, attempt: Attempt, { redact, now }: ReadyOptions): CallError {
  const { status, headers, text } = incoming;
  const json = parseJson(text);
  const object = isObject(json?.value) ? json.value : {};
  const error = isObject(object['error']) ? object['error'] : {};
  const foreign = (value: unknown) => (typeof value === 'string' ? safeText(value, redact) : undefined);
  const code = foreign(error['code']);
  const failure = {
    status,
    requestId: foreign(error['request_id']) ?? requestIdIn(headers, redact),
    retryAfter: readRetryAfter(headers.get('retry-after'), now()),
    retry: retryOf(status, code),
    nothingDone: status < 500 || (code !== undefined && NOTHING_DONE.includes(code)),
    attempts: attempt.attempts,
  } satisfies CallFailure;
  if (code === undefined) {
    const found = describe(incoming, redact);
    return json === undefined || text === ''
      ? callFailed(attempt, 'not_json', `the answer is not JSON: ${found}`, failure)
      : callFailed(attempt, 'unexpected_answer', `the answer has no error object: ${found}`, failure);
  }
  const known = isApiErrorCode(code) ? API_ERRORS[code] : undefined;
  const details = {
    type: foreign(error['type']) ?? known?.type ?? '',
    code,
    message: foreign(error['message']) ?? known?.condition ?? code,
    docUrl: foreign(error['doc_url']),
    param: foreign(error['param']),
  };
  return new ServiceApiError(details, failure);
}

function requestIdIn(headers: Headers, redact: Redact): string | undefined {
  const id = headers.get('x-request-id');
  return id === null ? undefined : safeText(id, redact);
}

/** Returns a text of an answer as a field of an error holds it: without the key and control characters. */
function safeText(text: string, redact: Redact): string {
  return printable(redact(text));
}

/** Returns the origin of a redirect's target: the rest of an address may be private. */
function originOf(location: string, base: string): string {
  return location !== '' && URL.canParse(location, base) ? new URL(location, base).origin : 'nowhere';
}

const SEARCHED_CHARACTERS = 16_384;
const EXCERPT_CHARACTERS = 100;

/** Describes an answer in an error: its status, media type and size, and how an HTML page or an error begins. */
function describe({ status, headers, text, bytes }: Incoming, redact: Redact): string {
  if (text === '') return `${status} with an empty body`;
  const [mediaType] = redact(headers.get('content-type') ?? 'no content type', EXCERPT_CHARACTERS).split(';', 1);
  const begin = redact(text, SEARCHED_CHARACTERS);
  // An attribute cannot hold `<` here, so that each character is searched once however many tags are opened.
  const [, title] = /<title[^<>]*>([^<]*)/i.exec(begin) ?? [];
  // A signing secret is never quoted: a success may begin with one, and a refusal may repeat the endpoint.
  const excerpt = /signing.?secret/i.test(begin) ? undefined : (title ?? (status >= 400 ? begin : undefined));
  const quoted = excerpt === undefined ? '' : `: ${JSON.stringify(excerpt.trim().slice(0, EXCERPT_CHARACTERS))}`;
  return `${status} ${mediaType}, ${bytes} bytes${quoted}`;
}
