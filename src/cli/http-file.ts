import type { HttpMessage } from '../http/http-message.js';
import { Failure } from './failure.js';

const REQUEST_LINE = /^([A-Z]+) (\S+) HTTP\/1\.[01]$/;

/**
 * Parses a `.http` file. Everything after the empty line is the body, whatever Content-Length says, because changes
 * that an editor made to the file must become visible.
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
      `${name === '-' ? 'stdin' : name}: no captured delivery, which begins with a line like POST /webhooks HTTP/1.1; for a body alone, give its headers.`,
    );
  }
  const [, method, path] = request as string[] as [string, string, string];
  return { method, path, headers: lines.slice(1).map(parseHeader), body: bytes.subarray(end.index + end[0].length) };
}

/** `Name: value`. @throws Failure */
export function parseHeader(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  const name = line.slice(0, colon);
  if (colon === -1 || line.includes('\n') || !/^[!#$%&'*+.^_`|~\w-]+$/.test(name)) {
    throw new Failure('file', `${JSON.stringify(line.slice(0, 80))} is no header: Name: value.`);
  }
  return [name, line.slice(colon + 1).trim()];
}
