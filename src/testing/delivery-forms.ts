import { exactBytes } from '../bytes.js';
import { check } from '../option-checks.js';
import type { DeliveryRequest } from './sign-delivery.js';

/**
 * Returns a delivery as a Fetch `Request`, for `fetch`, for `service-webhooks/fetch` and `service-webhooks/hono`, and
 * for every handler that accepts a `Request`.
 *
 * @throws WebhookError `invalid_option` for a URL that is not absolute
 * @example
 * const response = await POST(toRequest(delivery, 'http://localhost/webhooks'));
 */
export function toRequest({ method, headers, body }: DeliveryRequest, url: string | URL): Request {
  check(URL.canParse(String(url)), 'url must be absolute');
  return new Request(url, { method, headers, body: new Uint8Array(exactBytes(body)) });
}

/** The argument of Fastify's `inject`. */
export interface InjectOptions {
  method: 'POST';
  url: string;
  headers: Record<string, string>;
  /** The body as a Buffer, because Fastify writes any other array of bytes as JSON. */
  payload: Uint8Array;
}

/**
 * Returns a delivery for Fastify's `inject`, which needs no port.
 *
 * @example
 * const { statusCode } = await app.inject(toInject(delivery, '/webhooks'));
 */
export function toInject({ headers, body }: DeliveryRequest, url: string): InjectOptions {
  return { method: 'POST', url, headers: { ...headers }, payload: Buffer.from(exactBytes(body)) };
}

/**
 * Returns a delivery as a plugin for supertest.
 *
 * @example
 * await request(server).post('/webhooks').use(toSupertest(delivery)).expect(200);
 */
export function toSupertest({ headers, body }: DeliveryRequest): (test: SupertestRequest) => void {
  const bytes = Buffer.from(exactBytes(body));
  return (test) => {
    test.set(headers);
    test.serialize(() => bytes as never); // without it, superagent writes the bytes as JSON
    test.send(bytes);
  };
}

/** The part of supertest's request that is used. */
export interface SupertestRequest {
  set(headers: Record<string, string>): unknown;
  serialize(serializer: (body: unknown) => string): unknown;
  send(body: Uint8Array): unknown;
}

/** Below the limit for one argument of a command; the format of `printf` is split at this length. */
const MAX_ARGUMENT = 100_000;

/**
 * Returns a delivery as one command for a shell (`sh`, `bash`, `zsh`), whatever bytes it has. curl prints the answer
 * with its headers. The command contains signatures but no secret, and is refused 300 s after it was signed.
 *
 * @throws WebhookError `invalid_option` for a URL that is not http(s), and for a header that is not plain ASCII
 * @example
 * console.log(toCurl(delivery, 'http://localhost:3000/webhooks'));
 */
export function toCurl({ headers, body }: DeliveryRequest, url: string | URL): string {
  check(URL.canParse(String(url)) && /^https?:$/.test(new URL(url).protocol), 'url must be http or https');
  const bytes = exactBytes(body);
  const plain = bytes.length < MAX_ARGUMENT && bytes.every((byte) => byte >= 0x20 && byte < 0x7f);
  const command = ['curl -i -g', `--url ${quote(new URL(url).href)}`, ...Object.entries(headers).map(headerOption)];
  return plain
    ? [...command, `--data-raw ${quote(new TextDecoder().decode(bytes))}`].join(' ')
    : `printf ${quote(toFormat(bytes))} | ${[...command, '--data-binary @-'].join(' ')}`;
}

function headerOption([name, value]: [string, string]): string {
  check(/^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[ -~]*$/.test(value), 'headers must be plain ASCII');
  return `-H ${quote(value === '' ? `${name};` : `${name}: ${value}`)}`; // a colon without a value removes the header
}

/** Quotes a text in single quotes, in which a shell interprets nothing but the next single quote. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Returns a `printf` format for bytes: octal where they are not printable or have a meaning in a format. */
function toFormat(bytes: Uint8Array): string {
  return Array.from(bytes, (byte, i) => {
    const character = String.fromCharCode(byte);
    const special = /[^ -~]|[%\\]/.test(character) || (i === 0 && character === '-');
    return !special ? character : `\\${byte.toString(8).padStart(3, '0')}`;
  }).join('');
}
