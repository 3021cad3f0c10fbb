import { Failure } from './failure.js';

/** A request as a `.http` file has it: request line, headers, an empty line, the exact bytes of the body. */
export interface HttpMessage {
  method: string;
  /** Path and query. */
  path: string;
  /** As they came, in their order; a character is a byte. */
  headers: readonly (readonly [name: string, value: string])[];
  body: Uint8Array;
}

const REQUEST_LINE = /^([A-Z]+) (\S+) HTTP\/1\.[01]$/;

/** The whole of it as bytes. Content-Length stays what the sender said, which shows a body that broke off. */
export function formatHttp({ method, path, headers, body }: HttpMessage): Buffer {
  // Chunks are how it came, and it is in one piece here.
  const kept = headers.filter(([name]) => name.toLowerCase() !== 'transfer-encoding');
  if (headerValue(kept, 'content-length') === undefined) kept.push(['Content-Length', String(body.length)]);
  const head = [`${method} ${path} HTTP/1.1`, ...kept.map(([name, value]) => `${name}: ${value}`)];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), body]);
}

/**
 * Everything behind the empty line is the body, whatever Content-Length says: what an editor did to the file is what
 * is to be found out.
 *
 * @throws Failure
 */
export function parseHttp(bytes: Buffer, name: string): HttpMessage {
  const end = /\r?\n\r?\n/.exec(bytes.toString('latin1', 0, 1024 * 1024));
  const lines = bytes.toString('latin1', 0, end?.index ?? 0).split(/\r?\n/);
  const request = end && REQUEST_LINE.exec(lines[0] as string);
  if (!request) {
    throw new Failure(
      'file',
      `${name}: no captured delivery, which begins with a line like POST /webhooks HTTP/1.1; for a body alone, give its headers.`,
    );
  }
  const [, method, path] = request as string[] as [string, string, string];
  return { method, path, headers: lines.slice(1).map(parseHeader), body: bytes.subarray(end.index + end[0].length) };
}

/** `Name: value`. @throws Failure */
export function parseHeader(line: string): [name: string, value: string] {
  const header = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*(.*?)[ \t]*$/.exec(line);
  if (!header) throw new Failure('file', `${JSON.stringify(line.slice(0, 80))} is no header: Name: value.`);
  return header.slice(1) as [name: string, value: string];
}

/** The first value of a header; `name` is lower-case. */
export function headerValue(headers: HttpMessage['headers'], name: string): string | undefined {
  return headers.find(([key]) => key.toLowerCase() === name)?.[1];
}
