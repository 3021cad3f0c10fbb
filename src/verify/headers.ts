import { check, checkObject } from '../option-checks.js';
import type { HeaderField, HeaderNames } from './header-names.js';

/**
 * The headers of a request: Node's `IncomingHttpHeaders`, a Fetch `Headers`, or an iterable of `[name, value]`. The
 * case of names does not matter.
 */
export type HeaderSource =
  | { readonly [name: string]: string | readonly string[] | undefined }
  | { get(name: string): string | null; append(name: string, value: string): void }
  | Iterable<readonly [name: string, value: string]>;

/** The value of a header, or a list where it occurs several times, in any spelling: the caller decides what that means. */
export type HeaderValue = string | readonly string[] | undefined;

/** The headers of a request that count. */
export interface ReadHeaders extends Partial<Record<HeaderField, HeaderValue>> {
  /** All of them, which can be read repeatedly. */
  readonly source: HeaderSource;
}

/**
 * Reads the headers that count, in one pass.
 *
 * @throws WebhookError `invalid_option` for a value that is not headers; what a getter or an iterator throws
 */
export function readHeaders(headers: HeaderSource, names: HeaderNames): ReadHeaders {
  checkObject('headers', headers);
  if (isFetchHeaders(headers)) return readFetchHeaders(headers, names);
  if (Symbol.iterator in headers) return readPairs([...headers], names); // an iterator can be walked only once
  const read: ReadHeaders = { source: headers };
  for (const spelling of Object.keys(headers)) {
    const field = names.fields.get(spelling.toLowerCase());
    if (field) keep(read, field, headers[spelling]);
  }
  return read;
}

/** Returns the value of a header that occurs once. */
export function oneValue(value: HeaderValue): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Returns the names of the first headers, in lower case. */
export function headerNamesOf({ source }: ReadHeaders, limit: number): string[] {
  const names = isFetchHeaders(source)
    ? [...(source as Headers).keys()]
    : Array.isArray(source)
      ? source.map(([name]) => String(name))
      : Object.keys(source);
  const MAX_LENGTH = 100;
  return names.slice(0, limit).map((name) => name.slice(0, MAX_LENGTH).toLowerCase());
}

type FetchHeaders = Extract<HeaderSource, { get(name: string): string | null }>;

function isFetchHeaders(headers: object): headers is FetchHeaders {
  return typeof (headers as { append?: unknown }).append === 'function';
}

function readFetchHeaders(headers: FetchHeaders, names: HeaderNames): ReadHeaders {
  const read: ReadHeaders = { source: headers };
  for (const [name, field] of names.fields) read[field] = headers.get(name) ?? undefined;
  return read;
}

function readPairs(pairs: (readonly [name: string, value: string])[], names: HeaderNames): ReadHeaders {
  check(pairs.every(Array.isArray), 'headers must be pairs of name and value');
  const read: ReadHeaders = { source: pairs };
  for (const [spelling, value] of pairs) {
    const field = names.fields.get(String(spelling).toLowerCase());
    if (field) keep(read, field, value);
  }
  return read;
}

/** A header without a value is not there. One that is there twice is a list, to which a third adds nothing. */
function keep(read: ReadHeaders, field: HeaderField, value: HeaderValue | null): void {
  if (value === undefined || value === null) return;
  const before = read[field];
  if (before === undefined) read[field] = value;
  else if (typeof before === 'string') read[field] = [before, ...[value].flat()];
}
