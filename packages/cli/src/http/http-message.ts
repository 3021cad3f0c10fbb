import type { Secret } from 'service-webhooks';
import { asSpecified, signedHeaders } from 'service-webhooks/testing';

/** A request in the form of a `.http` file: request line, headers, an empty line, the exact bytes of the body. */
export interface HttpMessage {
  method: string;
  /** Path and query. */
  path: string;
  /** The headers as they arrived, in their order. A character is a byte. */
  headers: readonly (readonly [name: string, value: string])[];
  body: Uint8Array;
}

/**
 * Returns the message as bytes. Content-Length stays the value that the sender sent, which shows a body that broke off.
 */
export function formatHttp({ method, path, headers, body }: HttpMessage): Buffer {
  // The body was received in chunks and is one piece here.
  const kept = headers.filter(([name]) => name.toLowerCase() !== 'transfer-encoding');
  if (headerValue(kept, 'content-length') === undefined) kept.push(['Content-Length', String(body.length)]);
  const head = [`${method} ${path} HTTP/1.1`, ...kept.map(([name, value]) => `${name}: ${value}`)];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), body]);
}

const REQUEST_LINE = /^([A-Z]+) (\S+) HTTP\/1\.[01]$/;

/**
 * Parses a `.http` file. Everything after the empty line is the body, whatever Content-Length says, because changes
 * that an editor made to the file must become visible.
 *
 * @param name The file, for the message of an error.
 * @throws Error
 */
export function parseHttp(bytes: Buffer, name: string): HttpMessage {
  const text = bytes.toString('latin1', 0, 1024 * 1024);
  const end = /\r?\n\r?\n/.exec(text);
  const lines = text.slice(0, end?.index).split(/\r?\n/);
  const request = REQUEST_LINE.exec(lines[0] as string);
  if (request && !end) throw new Error(`${name}: the headers have no end, so the file is cut off.`);
  if (!request || !end) {
    const form = 'begins with a line like POST /webhooks HTTP/1.1; for a body alone, give its headers';
    throw new Error(`${name}: no captured delivery, which ${form}.`);
  }
  const [, method, path] = request as string[] as [string, string, string];
  return { method, path, headers: lines.slice(1).map(parseHeader), body: bytes.subarray(end.index + end[0].length) };
}

/** Parses `Name: value`. @throws Error */
export function parseHeader(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  const name = line.slice(0, colon);
  if (colon === -1 || line.includes('\n') || !/^[!#$%&'*+.^_`|~\w-]+$/.test(name)) {
    throw new Error(`${JSON.stringify(line.slice(0, 80))} is no header: Name: value.`);
  }
  return [name, line.slice(colon + 1).trim()];
}

/** Returns the pairs of Node's `rawHeaders`. */
export function headerPairs(raw: readonly string[]): HttpMessage['headers'] {
  return raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1] ?? ''] as const] : []));
}

/** Returns the first value of a header; `name` is lower-case. */
export function headerValue(headers: HttpMessage['headers'], name: string): string | undefined {
  return headers.find(([key]) => key.toLowerCase() === name)?.[1];
}

export interface ResignOptions {
  secret: Secret;
  /** In milliseconds since the epoch. */
  at: number;
  headerPrefix: string;
  attempt?: number | undefined;
}

/** Returns the headers of a delivery signed at another time, with the number of another attempt if one is given. */
export function resign({ headers, body }: Pick<HttpMessage, 'headers' | 'body'>, options: ResignOptions) {
  const { secret, at, headerPrefix, attempt } = options;
  const changed = {
    ...signedHeaders({ body, secret, at, headerPrefix }),
    ...(attempt && { [`${headerPrefix.toLowerCase()}-attempt`]: String(attempt) }),
  };
  const kept = headers.filter(([name]) => !Object.hasOwn(changed, name.toLowerCase()));
  return [...kept, ...asSpecified(changed)] satisfies HttpMessage['headers'];
}
