import { check } from '../option-checks.js';
import { type DeliveryRequest, keptOutOfSpreads } from './sign-delivery.js';

/** A recorded delivery, read from a file. A spread has the properties of the request and leaves out `at`. */
export interface ReadDelivery extends DeliveryRequest {
  /** The signed time of the V2 header, in milliseconds since the epoch; undefined where it has none. */
  at: number | undefined;
}

const REQUEST_LINE = /^([A-Z]+) \S+ HTTP\/1\.[01]$/;
const HEADER = /^([^\s:]+):[ \t]*(.*?)[ \t]*$/;

/**
 * Reads a `.http` file: a recorded delivery of `service-webhooks/fixtures`, or one that `listen --capture` wrote. The
 * body is everything after the empty line, byte for byte; text is encoded as UTF-8. Header names become lower-case, and
 * the values of a repeated header are joined with a comma, as Node and Fetch join them.
 *
 * @throws WebhookError `invalid_option` for a file that is not an HTTP request
 * @example
 * const recorded = readDelivery(await readFile('tests/stt.completed.http'));
 * const receiver = createReceiver({ secret, on, now: () => recorded.at ?? Date.now() });
 * const { status } = await receiver(recorded);
 */
export function readDelivery(file: string | Uint8Array): ReadDelivery {
  check(typeof file === 'string' || file instanceof Uint8Array, 'readDelivery() takes the text or the bytes of a file');
  const bytes = typeof file === 'string' ? new TextEncoder().encode(file) : new Uint8Array(file);
  const { lines, bodyStart } = headOf(bytes);
  const method = REQUEST_LINE.exec(lines[0] ?? '')?.[1];
  check(method !== undefined, 'readDelivery() takes a request that begins with a line like POST /webhooks HTTP/1.1');
  const headers: Record<string, string> = {};
  for (const line of lines.slice(1)) {
    const [, name = '', value = ''] = HEADER.exec(line) ?? [];
    check(name !== '', 'readDelivery() takes a request whose header lines are name: value');
    const known = headers[name.toLowerCase()];
    headers[name.toLowerCase()] = known === undefined ? value : `${known}, ${value}`;
  }
  const delivery: ReadDelivery = { method, headers, body: bytes.slice(bodyStart), at: signedTime(headers) };
  return keptOutOfSpreads(delivery, ['at']);
}

/** Returns the lines before the first empty one. In HTTP, a byte of them is a character. */
function headOf(bytes: Uint8Array): { lines: string[]; bodyStart: number } {
  const lines: string[] = [];
  for (let start = 0; ; ) {
    const end = bytes.indexOf(0x0a, start);
    check(end !== -1, 'readDelivery() takes a request with an empty line before its body');
    const line = String.fromCharCode(...bytes.subarray(start, Math.min(end, start + 65_536))).replace(/\r$/, '');
    start = end + 1;
    if (line === '') return { lines, bodyStart: start };
    lines.push(line);
  }
}

function signedTime(headers: Readonly<Record<string, string>>): number | undefined {
  const name = Object.keys(headers).find((other) => other.endsWith('-signature-v2'));
  const t = /(?:^|,)t=(\d{1,12})(?:,|$)/.exec(headers[name ?? ''] ?? '')?.[1];
  return t === undefined ? undefined : Number(t) * 1000;
}
