import { readdirSync, readFileSync } from 'node:fs';
import type { Delivery, VerifyInput, WebhookErrorCode } from 'service-webhooks';

type Pairs = readonly (readonly [name: string, value: string])[];

/** One of `fixtures/vectors.json`; `fixtures/README.md` says what the fields mean. */
export interface Vector {
  group: string;
  name: string;
  headers: Pairs;
  bodyBase64: string;
  secrets: readonly (string | { base64: string })[];
  now: number;
  options: Pick<VerifyInput, 'headerPrefix' | 'legacy' | 'toleranceSeconds'>;
  expect:
    | ({ accept: true; eventId: string; type: string } & Pick<Delivery, 'scheme' | 'secretIndex'>)
    | { accept: false; code: WebhookErrorCode; status: number };
}

export const fixturesDirectory = new URL('../../fixtures/', import.meta.url);

export function readVectors(): Vector[] {
  return readJson('vectors.json');
}

export function readJson<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(name, fixturesDirectory), 'utf8'));
}

/** What `verify` and a receiver take of a vector, but headers and body. */
export function settingsOf({ secrets, now, options }: Vector) {
  const secret = secrets.map((one) => (typeof one === 'string' ? one : Buffer.from(one.base64, 'base64')));
  return { ...options, secret, now: () => now };
}

/** A request recorded as it goes over the wire. */
export interface Recording {
  type: string;
  bytes: Buffer;
  requestLine: string;
  headers: [name: string, value: string][];
  body: Buffer;
}

/** `fixtures/deliveries/*.http`, and what is in them. */
export function readRecordings(): Recording[] {
  const directory = new URL('deliveries/', fixturesDirectory);
  return readdirSync(directory).map((file) => {
    const bytes = readFileSync(new URL(file, directory));
    const end = bytes.indexOf('\r\n\r\n');
    const [requestLine = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
    const headers = lines.map((line): [string, string] => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon), line.slice(colon + 2)];
    });
    return { type: file.replace(/\.http$/, ''), bytes, requestLine, headers, body: bytes.subarray(end + 4) };
  });
}
