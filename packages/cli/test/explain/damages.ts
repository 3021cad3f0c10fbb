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

const kind = (name: string, cause: CauseName, damage: Damage['damage'], also: CauseName[] = []): Damage => ({
  ...{ name, cause, damage, also },
});

const ofBody = (name: string, cause: CauseName, change: Parameters<typeof inBody>[0]) =>
  kind(name, cause, inBody(change));
const ofV2 = (name: string, cause: CauseName, change: Parameters<typeof inV2>[0]) => kind(name, cause, inV2(change));
const ofSecret = (name: string, cause: CauseName, change: Parameters<typeof inSecret>[0]) =>
  kind(name, cause, inSecret(change));

/** One row for each kind. */
export const damages: readonly Damage[] = [
  // The body
  ofBody('parsed, and written again by JSON.stringify', 'body_reserialised', (t) => JSON.stringify(JSON.parse(t))),
  ofBody('parsed, and written again with indentation', 'body_reserialised', (t) =>
    JSON.stringify(JSON.parse(t), null, 2),
  ),
  ofBody('parsed, and written again by Python', 'body_reserialised', (t) => pythonJson(JSON.parse(t))),
  ofBody(
    'parsed, and written again with sorted keys and a line feed',
    'body_reserialised',
    (t) => `${JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(t)).sort()))}\n`,
  ),
  kind('parsed, and not written again', 'body_parsed', (right) => ({ body: JSON.parse(textOf(right)) })),
  ofBody('a line feed added', 'newline_added', (t) => `${t}\n`),
  ofBody('the line feed at the end taken off', 'newline_stripped', (t) => t.replace(/\r?\n$/, '')),
  ofBody('white space added around it', 'white_space_changed', (t) => (/\s$/.test(t) ? t : `  ${t} `)),
  ofBody('several line feeds at its end', 'white_space_changed', (t) =>
    t.endsWith('\n') ? `${t.trimEnd()}\r\n \n` : t,
  ),
  ofBody('CR and LF for LF', 'line_ends_changed', (t) => t.replace(/\r?\n/g, '\r\n')),
  kind('LF for CR and LF', 'line_ends_changed', (right) => {
    const windows = Buffer.from(textOf(right).replace(/\r?\n/g, '\r\n'));
    return windows.equals(right.body) ? undefined : { headers: signedAs(windows, right) };
  }),
  kind('decoded as Latin-1', 'wrong_charset', ({ body }) =>
    /[^\0-\x7f]/.test(body.toString()) ? { body: body.toString('latin1') } : undefined,
  ),
  kind('decoded as Windows-1252', 'wrong_charset', ({ body }) =>
    /[^\0-\x7f]/.test(body.toString()) ? { body: fromSingleBytes(body, 'windows-1252') } : undefined,
  ),
  kind('written as Latin-1', 'wrong_charset', (right) =>
    /[\x80-\xff]/.test(textOf(right)) && /^[\0-\xff]*$/.test(textOf(right))
      ? { body: Buffer.from(textOf(right), 'latin1') }
      : undefined,
  ),
  ofBody('a byte order mark added', 'byte_order_mark', (t) => `\ufeff${t}`),
  kind('the byte order mark taken off', 'byte_order_mark', (right) => ({
    headers: signedAs(Buffer.from(`\ufeff${textOf(right)}`), right),
  })),
  ofBody('normalised to NFD', 'unicode_normalised', (t) => t.normalize('NFD')),
  kind('decompressed', 'decompressed', (right) => ({
    headers: { ...signedAs(gzipSync(right.body), right), 'content-encoding': 'gzip' },
  })),
  kind('still compressed', 'compressed', ({ body }) => ({ body: gzipSync(body) })),
  kind('still in base64', 'body_in_base64', ({ body }) => ({ body: body.toString('base64') })),
  ofBody('written as a JSON string', 'body_quoted', (t) => JSON.stringify(t)),
  ofBody('percent-encoded', 'body_url_encoded', (t) => encodeURIComponent(t)),
  ofBody('escaped for HTML', 'body_html_escaped', (t) => t.replaceAll('&', '&amp;').replaceAll('"', '&quot;')),
  ofBody('escaped for HTML by numbers', 'body_html_escaped', (t) => t.replace(/[&"]/g, (c) => `&#${c.charCodeAt(0)};`)),
  kind('in a buffer that is too long', 'body_padded', ({ body }) => ({
    body: Buffer.concat([body, Buffer.alloc(100)]),
  })),
  kind('read by something else', 'body_missing', ({ body, headers }) => ({
    body: '',
    headers: { ...headers, 'content-length': `${body.length}` },
  })),
  kind('not there', 'body_missing', () => ({ body: undefined })),
  kind('cut off', 'body_incomplete', ({ body, headers }) => ({
    body: body.subarray(0, 100),
    headers: { ...headers, 'content-length': `${body.length}` },
  })),
  kind('cut off, with no length in the headers', 'body_incomplete', ({ body }) => ({ body: body.subarray(0, 100) })),
  kind('one bit flipped', 'body_changed', ({ body }) => ({
    body: body.map((byte, i) => (i === 40 ? byte ^ 1 : byte)),
  })),
  kind('decoded in chunks', 'characters_lost', (right) => {
    const at = right.body.findIndex((byte) => byte > 0x7f) + 1;
    return at === 0 ? undefined : { body: right.body.subarray(0, at).toString() + right.body.subarray(at).toString() };
  }),

  // The secret
  ofSecret('a line feed behind the secret', 'secret_white_space', (s) => `${s}\n`),
  ofSecret('a space in the secret', 'secret_white_space', (s) => `${s.slice(0, 8)} ${s.slice(8)}`),
  ofSecret('a space without width behind the secret', 'secret_white_space', (s) => `${s}\u200b`),
  ofSecret('a secret in quotes', 'secret_quoted', (s) => `"${s}"`),
  kind(
    'a secret in quotes, with a line feed',
    'secret_quoted',
    inSecret((s) => `'${s}'\n`),
    ['secret_white_space'],
  ),
  ofSecret('a secret with the name of its variable', 'secret_assignment', (s) => `WEBHOOK_SECRET=${s}`),
  ofSecret('a secret with an escaped line end', 'secret_escaped', (s) => `${s}\\n`),
  kind('a secret decoded from base64', 'secret_encoding', ({ secret, ...right }) => {
    const shown = Buffer.from(secret).toString('base64');
    return { secret: Buffer.from(secret), headers: signedAs(right.body, { ...right, secret: shown }) };
  }),
  ofSecret('a secret in base64', 'secret_encoding', (s) => Buffer.from(s).toString('base64')),
  ofSecret('a secret in base64url', 'secret_encoding', (s) => Buffer.from(s).toString('base64url')),
  ofSecret('a secret in hex', 'secret_encoding', (s) => Buffer.from(s).toString('hex')),
  ofSecret('a secret without its prefix', 'secret_prefix', (s) => s.replace('whsec_', '')),
  ofSecret('a secret with a prefix too many', 'secret_prefix', (s) => `whsec_${s}`),
  ofSecret('a secret in capitals', 'secret_case', (s) => s.toUpperCase()),
  kind('the secret of another endpoint', 'secret_of_other_endpoint', ({ secret }) => ({
    secret: 'another secret',
    otherSecrets: { staging: 'one more', production: secret },
  })),
  kind('a wrong secret', 'secret_wrong', () => ({ secret: 'another secret' })),
  kind('an empty secret', 'secret_missing', () => ({ secret: '' })),
  kind('no secret', 'secret_missing', () => ({ secret: undefined })),

  // The signature headers
  kind('V2 stripped', 'v2_stripped', ({ headers }) => ({ headers: without(headers, V2) })),
  kind('no signature headers', 'signature_missing', () => ({ headers: { 'content-type': 'application/json' } })),
  kind('headers of another prefix', 'header_prefix', ({ headers }) => ({
    headers: renamed(headers, (n) => n.replace('x-service', 'x-vendor')),
  })),
  kind('headers as CGI names them', 'header_renamed', ({ headers }) => ({
    headers: renamed(headers, (n) => `HTTP_${n.replaceAll('-', '_').toUpperCase()}`),
  })),
  kind('sha256= in the V2 header', 'sha256_in_v2', ({ headers }) => ({
    headers: { ...headers, [V2]: headers[LEGACY] ?? '' },
  })),
  ofV2('sha256= for v1=', 'sha256_in_v2', (v) => v.replace('v1=', 'sha256=')),
  kind('the body alone signed in V2', 'time_not_signed', ({ headers }) => ({
    headers: { ...headers, [V2]: `t=${NOW / 1000},v1=${macOf(headers[LEGACY])}` },
  })),
  kind('the V2 value in the legacy header', 'v2_in_legacy', ({ headers }) => ({
    headers: { ...without(headers, V2), [LEGACY]: headers[V2] ?? '' },
  })),
  ofV2('the header twice, joined', 'headers_joined', (v) => `${v}, ${v}`),
  kind('the header twice, as a list', 'headers_joined', ({ headers }) => ({
    headers: { ...headers, [V2]: [`t=1,v1=${'0'.repeat(64)}`, headers[V2] ?? ''] },
  })),
  ofV2('capital hex', 'signature_uppercase', (v) => v.slice(0, -64) + macOf(v).toUpperCase()),
  ofV2(
    'a signature in base64',
    'signature_base64',
    (v) => v.slice(0, -64) + Buffer.from(macOf(v), 'hex').toString('base64'),
  ),
  ofV2('white space in the header', 'signature_rewritten', (v) => v.replace(',', ', ')),
  ofV2('the header in quotes', 'signature_rewritten', (v) => `"${v}"`),
  ofV2('the header percent-encoded', 'signature_rewritten', encodeURIComponent),
  ofV2('the header cut off', 'v2_changed', (v) => v.slice(0, -8)),
  ofV2('another signature in the header', 'v2_changed', (v) => v.slice(0, -64) + '0'.repeat(64)),
  kind('a header that is no signature', 'signature_malformed', () => ({ headers: { [V2]: 'v1' } })),

  // The time
  ofV2('milliseconds', 'milliseconds', (v) => v.replace(/t=(\d+)/, 't=$1000')),
  kind('milliseconds that were signed so', 'milliseconds', (right) => {
    const signed = sign({
      body: Buffer.concat([Buffer.from(`${NOW}.`), right.body]),
      secret: right.secret,
      scheme: 'legacy',
    });
    return { headers: { ...right.headers, [V2]: `t=${NOW},v1=${macOf(signed[LEGACY])}` } };
  }),
  ofV2('another t', 'timestamp_changed', (v) => v.replace(/t=\d+/, `t=${NOW / 1000 + 1}`)),
  kind('a clock 412 s behind', 'clock_behind', () => ({ now: () => NOW - 412_000 })),
  kind('a clock 412 s ahead', 'clock_ahead', () => ({ now: () => NOW + 412_000 })),
  kind('a clock of another zone', 'clock_behind', () => ({ now: () => NOW - 7_200_000 })),
  kind('a clock in seconds', 'clock_in_seconds', () => ({ now: () => NOW / 1000 })),
  kind('an old delivery', 'old_delivery', () => ({ now: () => NOW + 30 * 86_400_000 })),

  // What is signed
  kind('something that is no event', 'no_event', (right) => ({
    body: 'pong',
    headers: signedAs(Buffer.from('pong'), right),
  })),
];
