import { check, checkObject } from './check.js';
import { WebhookError } from './errors.js';

/**
 * The headers of a request: Node's `IncomingHttpHeaders`, a Fetch `Headers`, or an iterable of `[name, value]`.
 * Names are compared without regard to case.
 */
export type HeaderSource =
  | { readonly [name: string]: string | readonly string[] | undefined }
  | { get(name: string): string | null; append(name: string, value: string): void }
  | Iterable<readonly [name: string, value: string]>;

/** The exact bytes of a request, all at once or as they come. Node's `req` and a Fetch `request.body` are both one. */
export type BodySource = Uint8Array | AsyncIterable<Uint8Array> | string | null;

/** What an adapter makes of its framework's request. */
export interface WebhookRequest {
  method: string;
  headers: HeaderSource;
  /** `undefined` says that there was a body and something else has read it. */
  body: BodySource | undefined;
  /** Aborted when the sender is gone; then the body is no longer waited for. */
  signal?: AbortSignal | undefined;
  /** The one line that mends a body which a parser took first, in the words of this framework. */
  rawBodyFix?: string | undefined;
}

/** What an adapter gives back to its framework. */
export interface WebhookResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** The value of a header that came once; `name` is lower-case. */
export function oneValue(headers: HeaderSource, name: string): string | undefined {
  const value = header(headers, name);
  return typeof value === 'string' ? value : undefined;
}

/** Headers that can be read more than once; an iterator can be walked only once. */
export function readHeaders(headers: HeaderSource): HeaderSource {
  checkObject('headers', headers);
  if (!(Symbol.iterator in headers) || isFetchHeaders(headers)) return headers;
  const pairs = [...headers];
  check(pairs.every(Array.isArray), 'headers must be pairs');
  return pairs;
}

/**
 * The value of a header; a list where it came more than once, in whatever spelling: whoever joins or picks decides
 * what that means. `name` is lower-case.
 */
export function header(headers: HeaderSource, name: string): string | readonly string[] | undefined {
  if (isFetchHeaders(headers)) return headers.get(name) ?? undefined;
  const pairs = Array.isArray(headers);
  let found: (string | readonly string[])[] | undefined;
  for (const key in headers) {
    const entry = (headers as Record<string, string>)[key] as string;
    const spelled = pairs ? String(entry[0]) : key;
    // Nearly every other name is told apart by its length alone.
    if (spelled.length !== name.length || spelled.toLowerCase() !== name) continue;
    const value = pairs ? entry[1] : entry;
    if (value === undefined || value === null) continue;
    if (found) found.push(value);
    else found = [value]; // an array that is pushed into has room for 17, and is made for each header
  }
  return found?.length === 1 ? found[0] : found?.flat();
}

function isFetchHeaders(headers: object): headers is { get(name: string): string | null } {
  return typeof (headers as { append?: unknown }).append === 'function';
}

export const utf8 = new TextEncoder();

/** Bytes as they are, text as UTF-8; anything else is what a parser left, and cannot be verified any more. */
export function exactBytes(body: unknown, fix?: string): Uint8Array {
  if (body instanceof Uint8Array) return body.length ? body : body.slice(); // throws where they were transferred
  if (typeof body === 'string') return utf8.encode(body);
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  throw bodyTaken('body_already_parsed', fix);
}

/** Something was at the body first. `fix` says what to do about it. */
export function bodyTaken(code: 'body_already_parsed' | 'body_already_read', fix = 'Pass the raw body.'): WebhookError {
  return new WebhookError(code, 500, fix);
}

export function concat(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  let size = 0;
  for (const chunk of chunks) size += chunk.length;
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}
