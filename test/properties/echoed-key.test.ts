import { once } from 'node:events';
import { createServer } from 'node:net';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { type ClientOptions, createClient } from 'service-webhooks/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { holds, options } from './holds.js';

/** A real server that sends the same bytes to each connection, whether or not they are an answer. */
let bytes = Buffer.of();
const server = createServer((socket) => {
  socket.on('error', () => {});
  socket.once('data', () => socket.end(bytes));
});
beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));
afterAll(() => new Promise((resolve) => server.close(resolve)));

/** Returns every error of a call, as it would be logged. */
async function shownBy(options: Partial<ClientOptions> & { apiKey: string }): Promise<string[]> {
  const { port } = server.address() as { port: number };
  const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, maxAttempts: 1, ...options });
  const error = (await client.voices().then(
    ({ rate, requestId }) => ({ rate, requestId }),
    (reason: unknown) => reason,
  )) as Error;
  const { message = '', stack = '' } = error;
  return [message, stack, JSON.stringify(error), inspect(error, { depth: null, showHidden: true }), inspect(client)];
}

/** The ways in which a text is read again: by a URL, by JSON or JavaScript, by HTML, and without what is invisible. */
const READINGS: readonly ((text: string) => string)[] = [
  (text) => text.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
  (text) => text.replace(/\\u([0-9a-f]{4})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
  (text) => text.replace(/\\x([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
  (text) => text.replace(/&#x([0-9a-f]+);/gi, (_, hex) => String.fromCodePoint(Number.parseInt(hex, 16) % 0x10ffff)),
  (text) => text.replace(/&#(\d+);/g, (_, digits) => String.fromCodePoint(Number(digits) % 0x10ffff)),
  (text) => text.replaceAll('&amp;', '&').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"'),
  (text) => text.replace(/\\[nrt]/g, '').replace(/\\(["\\/])/g, '$1'),
  (text) => text.normalize('NFKC'),
  (text) => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, ''),
];

/** Returns whether a text says the key in any case, however often it is read. */
function says(text: string, key: string): boolean {
  const wanted = key.toLowerCase();
  const seen = new Set([text]);
  for (const one of seen) {
    if (one.toLowerCase().includes(wanted)) return true;
    if (seen.size < 200) for (const read of READINGS) seen.add(read(one));
  }
  return false;
}

const hexOf = (char: string) => char.charCodeAt(0).toString(16).padStart(2, '0');
const percent = (text: string) => [...text].map((char) => `%${hexOf(char)}`).join('');

/** The ways to write one character of the key. */
const CHARACTERS: Readonly<Record<string, (char: string) => string>> = {
  plain: (char) => char,
  'lower case': (char) => char.toLowerCase(),
  'upper case': (char) => char.toUpperCase(),
  percent,
  'percent, upper-case digits': (char) => `%${hexOf(char).toUpperCase()}`,
  'percent, twice': (char) => percent(percent(char)),
  'percent of the percent sign only': (char) => `%25${hexOf(char)}`,
  'JSON escape': (char) => `\\u00${hexOf(char)}`,
  'JSON escape within JSON': (char) => `\\\\u00${hexOf(char).toUpperCase()}`,
  'JavaScript escape': (char) => `\\x${hexOf(char)}`,
  'HTML, decimal': (char) => `&#${char.charCodeAt(0)};`,
  'HTML, hexadecimal': (char) => `&#x${hexOf(char)};`,
  'HTML, twice': (char) => `&amp;#${char.charCodeAt(0)};`,
  'full width': (char) => String.fromCharCode(char.charCodeAt(0) + 0xfee0),
  'followed by NUL': (char) => `${char}\u0000`,
  'followed by a line end': (char) => `${char}\r\n`,
  'followed by an invisible character': (char) => `${char}\u200b`,
  'followed by a soft hyphen': (char) => `${char}\u00ad`,
};

const aKey = fc
  .tuple(
    fc.constantFrom('acct_', 'sk-live-', '%41', '<&amp;"\\', ''),
    fc.stringMatching(/^[A-Za-z0-9]{12}[!-~]{0,20}$/),
  )
  .map((parts) => parts.join(''));

const aSpelling = fc.oneof(
  fc.constantFrom(...Object.values(CHARACTERS)).map((write) => (key: string) => [...key].map(write).join('')),
  fc
    .array(fc.constantFrom(...Object.values(CHARACTERS)), { minLength: 1, maxLength: 5 })
    .map((writes) => (key: string) => [...key].map((char, nth) => writes[nth % writes.length]?.(char)).join('')),
);

/** Texts before the key, so that each length limit of the client cuts it somewhere. */
const aBeginning = fc.oneof(
  fc.constantFrom('', 'the key ', 'https://a.example/?key='),
  fc.constantFrom(100, 10_000, 16_384).chain((limit) => fc.nat(40).map((back) => '-'.repeat(limit - back))),
);

const answer = (head: string, body = '') => `HTTP/1.1 ${head}\r\nconnection: close\r\n\r\n${body}`;
const inHeader = (echo: string) => echo.replace(/[\r\n\0]/g, '\t');
const refusal = (fields: object) =>
  answer('400 Bad\r\ncontent-type: application/json', JSON.stringify({ error: fields }));

/** The places of an answer in which a server can repeat the key. */
const PLACES: Readonly<Record<string, (echo: string) => string>> = {
  'the reason phrase': (echo) => answer(`400 ${inHeader(echo)}`),
  'the media type': (echo) => answer(`500 No\r\ncontent-type: ${inHeader(echo)}`, 'x'),
  'the host of a redirect': (echo) => answer(`302 Found\r\nlocation: https://${inHeader(echo)}.example/`),
  'the scheme of a redirect': (echo) => answer(`302 Found\r\nlocation: ${inHeader(echo)}://a.example/`),
  'the path of a redirect': (echo) => answer(`302 Found\r\nlocation: /${inHeader(echo)}`),
  'the request id of a refusal': (echo) => answer(`400 No\r\nx-request-id: ${inHeader(echo)}`, '{}'),
  'the request id of a success': (echo) => answer(`200 OK\r\nx-request-id: ${inHeader(echo)}`, '{}'),
  'the plan': (echo) => answer(`200 OK\r\nx-plan: ${inHeader(echo)}`, '{}'),
  'the title of a page': (echo) => answer('502 Bad', `<html><title>${echo}</title>`),
  'a text': (echo) => answer('404 No', echo),
  'the title of a page with status 200': (echo) => answer('200 OK', `<title>${echo}</title>`),
  'JSON without an error object': (echo) => answer('404 No', JSON.stringify({ detail: { [echo]: [echo] } })),
  ...Object.fromEntries(
    ['code', 'type', 'message', 'doc_url', 'param', 'request_id'].map((field) => [
      `the field ${field}`,
      (echo: string) => refusal({ code: 'new_code', [field]: echo }),
    ]),
  ),
  'JSON in the message': (echo) => refusal({ code: 'new_code', message: JSON.stringify({ [echo]: { key: echo } }) }),
  'an answer that is no HTTP': (echo) => echo,
  'a header that is no header': (echo) => answer(`200 OK\r\n${echo}`),
};

const RUNS = 60;

describe('a key that a server repeats', options, () => {
  it.each(Object.entries(PLACES))('no error and no property of the client holds the key: %s', (_, place) =>
    holds(
      [aKey, aSpelling, aBeginning],
      async (key, spelling, beginning) => {
        bytes = Buffer.from(place(beginning + spelling(key)), 'utf8');
        for (const text of await shownBy({ apiKey: key })) expect(says(text, key) ? text : '').toBe('');
      },
      RUNS,
    ),
  );

  it('no error holds the key where the echo has line ends in it and escapes in another case', async () => {
    const key = '<&amp;"\\Ba0aAA0a00aA';
    const echo = '<&amp\r\n;"\\ba\r\n0aAa0\r\na00aA\r\n';
    bytes = Buffer.from(refusal({ code: 'new_code', message: JSON.stringify({ [echo]: echo }) }), 'utf8');
    for (const text of await shownBy({ apiKey: key })) expect(says(text, key) ? text : '').toBe('');
  });

  it('no error holds the key from an error of fetch', () =>
    holds(
      [aKey, aSpelling, aBeginning],
      async (key, spelling, beginning) => {
        const fetch = () => Promise.reject(new TypeError('failed', { cause: new Error(beginning + spelling(key)) }));
        for (const text of await shownBy({ apiKey: key, fetch })) expect(says(text, key) ? text : '').toBe('');
      },
      RUNS,
    ));
});
