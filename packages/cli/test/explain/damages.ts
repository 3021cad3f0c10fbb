import { gzipSync } from 'node:zlib';
import { sign } from 'service-webhooks';
import type { CauseName, ExplainInput } from 'service-webhooks-cli/explain';
import { NOW, SECRET } from '../../../../test/support/deliveries.js';
import { fromSingleBytes } from '../../src/explain/encodings.js';

/** A delivery that was right, and what it was verified with. */
export interface Right {
  headers: Record<string, string>;
  body: Buffer;
  secret: string;
}

const envelope = { id: 'evt_1', type: 'stt.completed', version: '2026-07-11', jobId: 'clip_7301' };

/** Bodies as different as senders write them; none is what `JSON.stringify` makes of it. */
export const bodies: Readonly<Record<string, string>> = {
  'spaced, with escaped slashes, accents and a line feed': `{ "id": "evt_1", "type": "generation.completed", "version": "2026-07-11", \
"jobId": "clip_7301", "data": { "clipId": "clip_7301", "feature": "caf\u00e9", "durationSec": 12.50, "downloadUrl": \
"https:\\/\\/storage.example\\/a?b=1&c=2" }, "timestamp": "2026-07-11T12:00:00Z" }\n`,
  'without white space, with a line feed': `${JSON.stringify({ ...envelope, data: { text: '\u20ac \u00e9' }, timestamp: '2026-07-11T12:00:00Z' })}\n`,
  indented: JSON.stringify({ ...envelope, data: { parts: ['b', 1.5, 2] }, timestamp: '2026-07-11T12:00:00Z' }, null, 2),
};

/** A right delivery with this body. */
export function right(text: string): Right {
  const body = Buffer.from(text);
  const headers = { ...sign({ body, secret: SECRET, at: NOW }), 'x-service-timestamp': String(NOW / 1000) };
  return { headers, body, secret: SECRET };
}

/** One kind of damage. */
export interface Damage {
  name: string;
  /** What it is called. */
  cause: CauseName;
  /** What else is certain then: it belongs to the damage. */
  also?: CauseName[];
  /** Undefined where it would change nothing. */
  damage(right: Right): Partial<ExplainInput> | undefined;
}

const V2 = 'x-service-signature-v2';
const LEGACY = 'x-service-signature';

type Headers = Record<string, string>;

const textOf = ({ body }: Right) => body.toString();
const inBody = (change: (text: string) => string | Buffer) => (right: Right) => {
  const body = Buffer.from(change(textOf(right)) as string);
  return body.equals(right.body) ? undefined : { body };
};
const inV2 =
  (change: (value: string) => string) =>
  ({ headers }: Right) => ({
    headers: { ...headers, [V2]: change(headers[V2] ?? '') },
  });
const inSecret =
  (change: (secret: string) => string | Uint8Array) =>
  ({ secret }: Right) => ({ secret: change(secret) });
const renamed = (headers: Headers, rename: (name: string) => string): Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [rename(name), value]));
/** As a sender that signs other bytes than it sends would. */
const signedAs = (signed: Uint8Array, { headers, secret }: Right): Headers => ({
  ...headers,
  ...sign({ body: signed, secret, at: NOW }),
});
const without = (headers: Headers, name: string): Headers =>
  Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));
const macOf = (value = '') => value.slice(-64);
const pythonJson = (value: unknown) =>
  JSON.stringify(value, null, 1)
    .replace(/([[{])\n */g, '$1')
    .replace(/\n *([\]}])/g, '$1')
    .replace(/\n */g, ' ');

/** One row for each kind. */
export const damages: readonly Damage[] = [
  // The body
  {
    name: 'parsed, and written again by JSON.stringify',
    cause: 'body_reserialised',
    damage: inBody((t) => JSON.stringify(JSON.parse(t))),
  },
  {
    name: 'parsed, and written again with indentation',
    cause: 'body_reserialised',
    damage: inBody((t) => JSON.stringify(JSON.parse(t), null, 2)),
  },
  {
    name: 'parsed, and written again by Python',
    cause: 'body_reserialised',
    damage: inBody((t) => pythonJson(JSON.parse(t))),
  },
  {
    name: 'parsed, and written again with sorted keys and a line feed',
    cause: 'body_reserialised',
    damage: inBody((t) => `${JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(t)).sort()))}\n`),
  },
  {
    name: 'parsed, and not written again',
    cause: 'body_parsed',
    damage: (right) => ({ body: JSON.parse(textOf(right)) }),
  },
  { name: 'a line feed added', cause: 'newline_added', damage: inBody((t) => `${t}\n`) },
  {
    name: 'the line feed at the end taken off',
    cause: 'newline_stripped',
    damage: inBody((t) => t.replace(/\r?\n$/, '')),
  },
  {
    name: 'white space added around it',
    cause: 'white_space_changed',
    damage: inBody((t) => (/\s$/.test(t) ? t : `  ${t} `)),
  },
  {
    name: 'several line feeds at its end',
    cause: 'white_space_changed',
    damage: inBody((t) => (t.endsWith('\n') ? `${t.trimEnd()}\r\n \n` : t)),
  },
  { name: 'CR and LF for LF', cause: 'line_ends_changed', damage: inBody((t) => t.replace(/\r?\n/g, '\r\n')) },
  {
    name: 'LF for CR and LF',
    cause: 'line_ends_changed',
    damage: (right) => {
      const windows = Buffer.from(textOf(right).replace(/\r?\n/g, '\r\n'));
      return windows.equals(right.body) ? undefined : { headers: signedAs(windows, right) };
    },
  },
  {
    name: 'decoded as Latin-1',
    cause: 'wrong_charset',
    damage: ({ body }) => (/[^\0-\x7f]/.test(body.toString()) ? { body: body.toString('latin1') } : undefined),
  },
  {
    name: 'decoded as Windows-1252',
    cause: 'wrong_charset',
    // Not by the TextDecoder, which in several versions of Node takes it for Latin-1.
    damage: ({ body }) =>
      /[^\0-\x7f]/.test(body.toString()) ? { body: fromSingleBytes(body, 'windows-1252') } : undefined,
  },
  {
    name: 'written as Latin-1',
    cause: 'wrong_charset',
    damage: (right) =>
      /[\x80-\xff]/.test(textOf(right)) && /^[\0-\xff]*$/.test(textOf(right))
        ? { body: Buffer.from(textOf(right), 'latin1') }
        : undefined,
  },
  { name: 'a byte order mark added', cause: 'byte_order_mark', damage: inBody((t) => `\ufeff${t}`) },
  {
    name: 'the byte order mark taken off',
    cause: 'byte_order_mark',
    damage: (right) => ({ headers: signedAs(Buffer.from(`\ufeff${textOf(right)}`), right) }),
  },
  { name: 'normalised to NFD', cause: 'unicode_normalised', damage: inBody((t) => t.normalize('NFD')) },
  {
    name: 'decompressed',
    cause: 'decompressed',
    damage: (right) => ({ headers: { ...signedAs(gzipSync(right.body), right), 'content-encoding': 'gzip' } }),
  },
  { name: 'still compressed', cause: 'compressed', damage: ({ body }) => ({ body: gzipSync(body) }) },
  { name: 'still in base64', cause: 'body_in_base64', damage: ({ body }) => ({ body: body.toString('base64') }) },
  { name: 'written as a JSON string', cause: 'body_quoted', damage: inBody((t) => JSON.stringify(t)) },
  { name: 'percent-encoded', cause: 'body_url_encoded', damage: inBody((t) => encodeURIComponent(t)) },
  {
    name: 'escaped for HTML',
    cause: 'body_html_escaped',
    damage: inBody((t) => t.replaceAll('&', '&amp;').replaceAll('"', '&quot;')),
  },
  {
    name: 'escaped for HTML by numbers',
    cause: 'body_html_escaped',
    damage: inBody((t) => t.replace(/[&"]/g, (c) => `&#${c.charCodeAt(0)};`)),
  },
  {
    name: 'in a buffer that is too long',
    cause: 'body_padded',
    damage: ({ body }) => ({ body: Buffer.concat([body, Buffer.alloc(100)]) }),
  },
  {
    name: 'read by something else',
    cause: 'body_missing',
    damage: ({ body, headers }) => ({ body: '', headers: { ...headers, 'content-length': `${body.length}` } }),
  },
  { name: 'not there', cause: 'body_missing', damage: () => ({ body: undefined }) },
  {
    name: 'cut off',
    cause: 'body_incomplete',
    damage: ({ body, headers }) => ({
      body: body.subarray(0, 100),
      headers: { ...headers, 'content-length': `${body.length}` },
    }),
  },
  {
    name: 'cut off, with no length in the headers',
    cause: 'body_incomplete',
    damage: ({ body }) => ({ body: body.subarray(0, 100) }),
  },
  {
    name: 'one bit flipped',
    cause: 'body_changed',
    damage: ({ body }) => ({ body: body.map((byte, i) => (i === 40 ? byte ^ 1 : byte)) }),
  },
  {
    name: 'decoded in chunks',
    cause: 'characters_lost',
    damage: (right) => {
      const at = right.body.findIndex((byte) => byte > 0x7f) + 1;
      return at === 0
        ? undefined
        : { body: right.body.subarray(0, at).toString() + right.body.subarray(at).toString() };
    },
  },

  // The secret
  { name: 'a line feed behind the secret', cause: 'secret_white_space', damage: inSecret((s) => `${s}\n`) },
  {
    name: 'a space in the secret',
    cause: 'secret_white_space',
    damage: inSecret((s) => `${s.slice(0, 8)} ${s.slice(8)}`),
  },
  {
    name: 'a space without width behind the secret',
    cause: 'secret_white_space',
    damage: inSecret((s) => `${s}\u200b`),
  },
  { name: 'a secret in quotes', cause: 'secret_quoted', damage: inSecret((s) => `"${s}"`) },
  {
    name: 'a secret in quotes, with a line feed',
    cause: 'secret_quoted',
    also: ['secret_white_space'],
    damage: inSecret((s) => `'${s}'\n`),
  },
  {
    name: 'a secret with the name of its variable',
    cause: 'secret_assignment',
    damage: inSecret((s) => `WEBHOOK_SECRET=${s}`),
  },
  { name: 'a secret with an escaped line end', cause: 'secret_escaped', damage: inSecret((s) => `${s}\\n`) },
  {
    name: 'a secret decoded from base64',
    cause: 'secret_encoding',
    damage: ({ secret, ...right }) => {
      const shown = Buffer.from(secret).toString('base64');
      return { secret: Buffer.from(secret), headers: signedAs(right.body, { ...right, secret: shown }) };
    },
  },
  { name: 'a secret in base64', cause: 'secret_encoding', damage: inSecret((s) => Buffer.from(s).toString('base64')) },
  {
    name: 'a secret in base64url',
    cause: 'secret_encoding',
    damage: inSecret((s) => Buffer.from(s).toString('base64url')),
  },
  { name: 'a secret in hex', cause: 'secret_encoding', damage: inSecret((s) => Buffer.from(s).toString('hex')) },
  { name: 'a secret without its prefix', cause: 'secret_prefix', damage: inSecret((s) => s.replace('whsec_', '')) },
  { name: 'a secret with a prefix too many', cause: 'secret_prefix', damage: inSecret((s) => `whsec_${s}`) },
  { name: 'a secret in capitals', cause: 'secret_case', damage: inSecret((s) => s.toUpperCase()) },
  {
    name: 'the secret of another endpoint',
    cause: 'secret_of_other_endpoint',
    damage: ({ secret }) => ({ secret: 'another secret', otherSecrets: { staging: 'one more', production: secret } }),
  },
  { name: 'a wrong secret', cause: 'secret_wrong', damage: () => ({ secret: 'another secret' }) },
  { name: 'an empty secret', cause: 'secret_missing', damage: () => ({ secret: '' }) },
  { name: 'no secret', cause: 'secret_missing', damage: () => ({ secret: undefined }) },

  // The signature headers
  { name: 'V2 stripped', cause: 'v2_stripped', damage: ({ headers }) => ({ headers: without(headers, V2) }) },
  {
    name: 'no signature headers',
    cause: 'signature_missing',
    damage: () => ({ headers: { 'content-type': 'application/json' } }),
  },
  {
    name: 'headers of another prefix',
    cause: 'header_prefix',
    damage: ({ headers }) => ({ headers: renamed(headers, (n) => n.replace('x-service', 'x-vendor')) }),
  },
  {
    name: 'headers as CGI names them',
    cause: 'header_renamed',
    damage: ({ headers }) => ({ headers: renamed(headers, (n) => `HTTP_${n.replaceAll('-', '_').toUpperCase()}`) }),
  },
  {
    name: 'sha256= in the V2 header',
    cause: 'sha256_in_v2',
    damage: ({ headers }) => ({ headers: { ...headers, [V2]: headers[LEGACY] ?? '' } }),
  },
  { name: 'sha256= for v1=', cause: 'sha256_in_v2', damage: inV2((v) => v.replace('v1=', 'sha256=')) },
  {
    name: 'the body alone signed in V2',
    cause: 'time_not_signed',
    damage: ({ headers }) => ({ headers: { ...headers, [V2]: `t=${NOW / 1000},v1=${macOf(headers[LEGACY])}` } }),
  },
  {
    name: 'the V2 value in the legacy header',
    cause: 'v2_in_legacy',
    damage: ({ headers }) => ({ headers: { ...without(headers, V2), [LEGACY]: headers[V2] ?? '' } }),
  },
  { name: 'the header twice, joined', cause: 'headers_joined', damage: inV2((v) => `${v}, ${v}`) },
  {
    name: 'the header twice, as a list',
    cause: 'headers_joined',
    damage: ({ headers }) => ({ headers: { ...headers, [V2]: [`t=1,v1=${'0'.repeat(64)}`, headers[V2] ?? ''] } }),
  },
  { name: 'capital hex', cause: 'signature_uppercase', damage: inV2((v) => v.slice(0, -64) + macOf(v).toUpperCase()) },
  {
    name: 'a signature in base64',
    cause: 'signature_base64',
    damage: inV2((v) => v.slice(0, -64) + Buffer.from(macOf(v), 'hex').toString('base64')),
  },
  { name: 'white space in the header', cause: 'signature_rewritten', damage: inV2((v) => v.replace(',', ', ')) },
  { name: 'the header in quotes', cause: 'signature_rewritten', damage: inV2((v) => `"${v}"`) },
  { name: 'the header percent-encoded', cause: 'signature_rewritten', damage: inV2(encodeURIComponent) },
  { name: 'the header cut off', cause: 'v2_changed', damage: inV2((v) => v.slice(0, -8)) },
  {
    name: 'another signature in the header',
    cause: 'v2_changed',
    damage: inV2((v) => v.slice(0, -64) + '0'.repeat(64)),
  },
  { name: 'a header that is no signature', cause: 'signature_malformed', damage: () => ({ headers: { [V2]: 'v1' } }) },

  // The time
  { name: 'milliseconds', cause: 'milliseconds', damage: inV2((v) => v.replace(/t=(\d+)/, 't=$1000')) },
  {
    name: 'milliseconds that were signed so',
    cause: 'milliseconds',
    damage: (right) => {
      const signed = sign({
        body: Buffer.concat([Buffer.from(`${NOW}.`), right.body]),
        secret: right.secret,
        scheme: 'legacy',
      });
      return { headers: { ...right.headers, [V2]: `t=${NOW},v1=${macOf(signed[LEGACY])}` } };
    },
  },
  { name: 'another t', cause: 'timestamp_changed', damage: inV2((v) => v.replace(/t=\d+/, `t=${NOW / 1000 + 1}`)) },
  { name: 'a clock 412 s behind', cause: 'clock_behind', damage: () => ({ now: () => NOW - 412_000 }) },
  { name: 'a clock 412 s ahead', cause: 'clock_ahead', damage: () => ({ now: () => NOW + 412_000 }) },
  { name: 'a clock of another zone', cause: 'clock_behind', damage: () => ({ now: () => NOW - 7_200_000 }) },
  { name: 'a clock in seconds', cause: 'clock_in_seconds', damage: () => ({ now: () => NOW / 1000 }) },
  { name: 'an old delivery', cause: 'old_delivery', damage: () => ({ now: () => NOW + 30 * 86_400_000 }) },

  // What is signed
  {
    name: 'something that is no event',
    cause: 'no_event',
    damage: (right) => ({ body: 'pong', headers: signedAs(Buffer.from('pong'), right) }),
  },
];
