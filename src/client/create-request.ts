import { check, checkObject, checkPositiveInteger } from '../check.js';
import type { Answer } from './answer.js';
import { failed } from './attempt.js';
import type { ReadyOptions } from './options.js';
import type { Call } from './send.js';
import { faultyField, type Shape } from './shown.js';

/** How one call may end early. */
export interface CallOptions {
  /** Ends it with the signal's own reason. */
  signal?: AbortSignal | undefined;
  /** With all its tries and waits, in milliseconds; that of the client. */
  timeoutMs?: number | undefined;
}

/** A request to any route. */
export interface ClientRequest extends CallOptions {
  /** `GET`. */
  method?: string | undefined;
  /** After `baseUrl`, with a query if there is one: `/v1/voices`. */
  path: string;
  /** Written as JSON; FormData, a Blob and bytes are sent as they are. */
  body?: unknown;
  /**
   * Whether sending it twice does the same as sending it once, so that it may be sent again although it is not known
   * what became of the first. By default as the method says: GET, HEAD, OPTIONS, PUT and DELETE.
   */
  repeatable?: boolean | undefined;
}

export type RequestFunction = <T = unknown>(request: ClientRequest) => Promise<Answer<T>>;

const REPEATABLE = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'];

/** What makes a call of a request, and a request whose answer has to have the fields that the specification shows. */
export function createRequest(options: ReadyOptions, send: (call: Call) => Promise<Answer>) {
  /** @throws WebhookError `invalid_option` */
  function toCall(given: ClientRequest): Call {
    checkObject('request', given);
    const { method: name = 'GET', path, body, signal, timeoutMs = options.timeoutMs } = given;
    check(typeof name === 'string' && /^[a-z]+$/i.test(name), 'method must be like GET');
    check(typeof path === 'string' && path.startsWith('/'), 'path must begin with a slash');
    check(!path.includes(options.apiKey), 'path must not hold the key, which is only read from a header');
    check(signal === undefined || signal instanceof AbortSignal, 'signal must be an AbortSignal');
    checkPositiveInteger('timeoutMs', timeoutMs);
    const method = name.toUpperCase();
    const { repeatable = REPEATABLE.includes(method) } = given;
    // Of the three headers (section 5) the one that webhook management asks for, and that no vendor's name is in.
    const headers = { accept: 'application/json', 'x-api-key': options.apiKey };
    const url = options.baseUrl + path;
    const common = { method, url, repeatable, signal, timeoutMs };
    if (body === undefined) return { ...common, headers, body: null };
    if (isSentAsItIs(body)) return { ...common, headers, body };
    return { ...common, headers: { ...headers, 'content-type': 'application/json' }, body: toJson(body) };
  }

  const request = async (given: ClientRequest) => send(toCall(given));

  return {
    request: request as RequestFunction,
    /** @throws ClientError `unexpected_answer` */
    async requestShown<T>(given: ClientRequest, shape: Shape): Promise<Answer<T>> {
      const call = toCall(given);
      const answer = await send(call);
      const field = faultyField(answer.data, shape);
      const { status, requestId, attempts } = answer;
      if (field === undefined) return answer as Answer<T>;
      throw failed({ ...call, attempts }, 'unexpected_answer', `${status}, and no ${field}`, { status, requestId });
    },
  };
}

/** An id as one segment of a path. @throws WebhookError `invalid_option` */
export function segment(name: string, id: unknown): string {
  // A dot segment would lead to another route.
  check(typeof id === 'string' && !/^\.{0,2}$|\p{Surrogate}/u.test(id), `${name} must be an id`);
  return encodeURIComponent(id);
}

function isSentAsItIs(body: unknown): body is FormData | Blob | ArrayBuffer | Uint8Array<ArrayBuffer> {
  return [FormData, Blob, ArrayBuffer].some((kind) => body instanceof kind) || ArrayBuffer.isView(body);
}

function toJson(body: unknown): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(body);
  } catch {} // a circle, a BigInt, or a toJSON that throws
  check(json !== undefined, 'body cannot be written as JSON');
  return json;
}
