import { check, checkObject } from '../option-checks.js';

/**
 * The headers of a request: Node's `IncomingHttpHeaders`, a Fetch `Headers`, or an iterable of `[name, value]`. The
 * case of names does not matter.
 */
export type HeaderSource =
  | { readonly [name: string]: string | readonly string[] | undefined }
  | { get(name: string): string | null; append(name: string, value: string): void }
  | Iterable<readonly [name: string, value: string]>;

/**
 * Returns headers that can be read repeatedly: an iterator can be walked only once.
 *
 * @throws WebhookError `invalid_option`
 */
export function readHeaders(headers: HeaderSource): HeaderSource {
  checkObject('headers', headers);
  if (!(Symbol.iterator in headers) || isFetchHeaders(headers)) return headers;
  const pairs = [...headers];
  check(pairs.every(Array.isArray), 'headers must be pairs of name and value');
  return pairs;
}

/** Returns the value of a header that occurs once; `name` is lower-case. */
export function oneValue(headers: HeaderSource, name: string): string | undefined {
  const value = header(headers, name);
  return typeof value === 'string' ? value : undefined;
}

/**
 * Returns the value of a header in any spelling, or a list where it occurs several times: the caller decides what that
 * means. `name` is lower-case.
 */
export function header(headers: HeaderSource, name: string): string | readonly string[] | undefined {
  if (isFetchHeaders(headers)) return headers.get(name) ?? undefined;
  const values: (string | readonly string[])[] = [];
  const keep = (value: string | readonly string[] | undefined | null) => {
    if (value !== undefined && value !== null) values.push(value);
  };
  if (Array.isArray(headers)) {
    for (const [spelling, value] of headers) if (isName(String(spelling), name)) keep(value);
  } else {
    const object = headers as { readonly [name: string]: string | readonly string[] | undefined };
    for (const spelling of Object.keys(object)) if (isName(spelling, name)) keep(object[spelling]);
  }
  return values.length > 1 ? values.flat() : values[0];
}

/** Returns the names of the first headers, in lower case. */
export function headerNamesOf(headers: HeaderSource, limit: number): string[] {
  const names = isFetchHeaders(headers)
    ? [...(headers as Headers).keys()]
    : Array.isArray(headers)
      ? headers.map(([name]) => String(name))
      : Object.keys(headers);
  const MAX_LENGTH = 100;
  return names.slice(0, limit).map((name) => name.slice(0, MAX_LENGTH).toLowerCase());
}

/** Nearly every other name differs in length, which is much faster to compare. */
function isName(spelling: string, name: string): boolean {
  return spelling.length === name.length && spelling.toLowerCase() === name;
}

function isFetchHeaders(headers: object): headers is { get(name: string): string | null } {
  return typeof (headers as { append?: unknown }).append === 'function';
}
