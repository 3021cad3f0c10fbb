// The other parsers and regular expressions that meet text from a stranger: the client's answers, what is printed, URLs
// for the emulator, and what explain and the page read. Each shape for any size.
import { hostileBodies } from './hostile.mjs';

const fill = (part, size) => part.repeat(Math.ceil(size / part.length)).slice(0, size);
const attempt = { method: 'GET', url: 'https://api.example/v1/webhooks', attempts: 1 };
const options = { redact: (text) => text.replaceAll('secret-key', '[key]'), now: () => 0, headerPrefix: 'x-service' };
const V2 = 'x-service-signature-v2';

/** The sources, from the root of the repository. */
export const PARSERS = {
  answer: 'src/client/answer.ts',
  data: 'src/client/answer-data.ts',
  rates: 'src/client/rate-limits.ts',
  printable: 'src/printable.ts',
  log: 'src/receiver/log.ts',
  url: 'packages/emulator/src/wire/public-url.ts',
  claims: 'packages/cli/src/explain/claims.ts',
  signatures: 'packages/cli/src/explain/signature-headers.ts',
  body: 'packages/cli/src/page/attempt-details.ts',
};

const json = (name) => hostileBodies[`body: ${name}`];

/** Calls of about `size` characters, by what is hostile; `load` gives the module of a source. */
export function hostileParsers(load) {
  const { readAnswer } = load.answer;
  const { objectsIn, parseJson } = load.data;
  const { readRate, readRetryAfter } = load.rates;
  const { printable } = load.printable;
  const answer = (status, text, headers = {}) => {
    const incoming = { status, headers: new Headers(headers), text, bytes: text.length };
    return () => readAnswer(incoming, attempt, options);
  };
  const value = (call, text) => () => call(text);
  const rate = (text) => () => readRate({ get: () => text });
  const logged = (text) => {
    const log = load.log.createLog({ error() {}, warn() {} });
    return () => log.outcome?.({ kind: 'failed', error: new Error(text) });
  };
  return {
    'client answer: titles opened': (n) => answer(502, fill('<title', n)),
    'client answer: titles opened and closed': (n) => answer(502, fill('<title>', n)),
    'client answer: white space': (n) => answer(502, fill(' ', n)),
    'client answer: an error with a long code': (n) => answer(400, JSON.stringify({ error: { code: fill('a\n', n) } })),
    'client answer: a redirect to a long place': (n) => answer(302, '', { location: `https://${fill('a.', n)}` }),
    'client JSON: arrays in arrays': (n) => value(parseJson, json('arrays in arrays')(n)),
    'client JSON: objects in objects': (n) => value(parseJson, json('objects in objects')(n)),
    'client JSON: many objects': (n) => value(parseJson, `[${fill('{},', n - (n % 3))}{}]`),
    'client JSON: many keys': (n) => value(parseJson, json('many keys')(n)),
    'client objectsIn: an array of arrays': (n) => {
      const data = Array.from({ length: n / 8 }, () => []);
      return () => objectsIn(data);
    },
    'client Retry-After: digits, and another character': (n) =>
      value((text) => readRetryAfter(text, 0), `${fill('1', n)}x`),
    'client Retry-After: nearly a date': (n) => value((text) => readRetryAfter(text, 0), `Mon, 01 Jan ${fill('2', n)}`),
    'client rate limits: digits, and another character': (n) => rate(`${fill('1', n)}x`),
    'printable: control characters': (n) => value(printable, fill('\x1b[2J\n', n)),
    'printable: halves of surrogates': (n) => value(printable, fill('\ud800a', n)),
    'printable: plain text': (n) => value(printable, fill('a', n)),
    'log: a long message': (n) => logged(fill('\x1b', n)),
    'emulator URL: dots in the host name': (n) => value(load.url.refusedUrl, `https://a${fill('.', n)}a/`),
    'emulator URL: brackets in the host name': (n) => value(load.url.refusedUrl, `https://${fill('[', n)}/`),
    'emulator URL: a long host name': (n) => value(load.url.refusedUrl, `https://${fill('a.', n)}a/`),
    'host header: colons': (n) => value(load.url.isLoopbackHost, `${fill(':1', n)}x`),
    'host header: digits': (n) => value(load.url.isLoopbackHost, `:${fill('1', n)}x`),
    'explain header: times without end': (n) => explained(load, fill('t=1, ', n)),
    'explain header: white space': (n) => explained(load, `${fill(' ', n)}x`),
    'explain header: equals signs': (n) => explained(load, `v1=${fill('=', n)}`),
    'explain header: percent signs': (n) => explained(load, fill('%3d%2c', n)),
  };
}

/** The page cuts bodies at 256 KiB, so that these are measured below that. */
export function hostileViews({ body: { viewBody } }) {
  const viewed = (text) => {
    const bytes = Buffer.from(text, 'latin1');
    return () => viewBody(bytes);
  };
  return {
    'page body: arrays in arrays': (n) => viewed(json('arrays in arrays')(n)),
    'page body: no UTF-8 at its end': (n) => viewed(json('no UTF-8 at its end')(n)),
  };
}

function explained({ claims, signatures }, text) {
  return () => claims.claimsIn(signatures.readSignatureHeaders({ [V2]: text }));
}
