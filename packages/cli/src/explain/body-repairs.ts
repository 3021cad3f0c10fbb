import { brotliCompressSync, brotliDecompressSync, deflateSync, gunzipSync, gzipSync, inflateSync } from 'node:zlib';
import type { CauseName, Finding, Repair } from './causes.js';
import { fromBase64, fromSingleBytes, percentDecoded, toSingleBytes, utf8Text } from './encodings.js';
import { jsonSpellings } from './json-spellings.js';

/** A change of the body into another form; it returns undefined where the body has no such form. */
type Change = readonly [cause: CauseName, form: string, change: (body: Buffer) => Buffer | string | undefined];

/** The largest body that is compressed to check whether its compressed form was signed, in bytes. */
const MAX_COMPRESSED_BYTES = 256 * 1024;

export interface BodyRepairOptions {
  /** The Content-Encoding header. Default: `gzip`. */
  contentEncoding?: string | undefined;
  /**
   * The largest result of a decompression, in bytes. Default: 16 MiB, which fits any event and stops a compression
   * bomb.
   */
  maxDecompressedBytes?: number | undefined;
}

const NEWLINES: readonly Change[] = [
  ['newline_added', 'without the line feed at its end', bytewise((text) => text.replace(/\r?\n$/, ''))],
  ['newline_stripped', 'with a line feed at its end', bytewise((text) => `${text}\n`)],
  ['newline_stripped', 'with CR and LF at its end', bytewise((text) => `${text}\r\n`)],
];

const CHANGES: readonly Change[] = [
  ['white_space_changed', 'without white space around it', (body) => trimmed(body, SPACES, SPACES)],
  ['line_ends_changed', 'with LF for CR and LF', bytewise((text) => text.replaceAll('\r\n', '\n'))],
  ['line_ends_changed', 'with CR and LF for LF', bytewise((text) => text.replace(/\r?\n/g, '\r\n'))],
  ['byte_order_mark', 'without the byte order mark', textwise((text) => text.replace(/^\ufeff/, ''))],
  ['byte_order_mark', 'with a byte order mark', textwise((text) => `\ufeff${text}`)],
  ['wrong_charset', 'with its characters written as Latin-1', textwise((text) => toSingleBytes(text, 'latin1'))],
  [
    'wrong_charset',
    'with its characters written as Windows-1252',
    textwise((text) => toSingleBytes(text, 'windows-1252')),
  ],
  ['wrong_charset', 'read as Latin-1 and written as UTF-8', (body) => fromSingleBytes(body, 'latin1')],
  ['wrong_charset', 'read as Windows-1252 and written as UTF-8', (body) => fromSingleBytes(body, 'windows-1252')],
  ['unicode_normalised', 'in Unicode form NFD', textwise((text) => text.normalize('NFD'))],
  ['unicode_normalised', 'in Unicode form NFC', textwise((text) => text.normalize('NFC'))],
  ['body_in_base64', 'decoded from base64', textwise((text) => fromBase64(text.trimEnd()))],
  ['body_quoted', 'as the text of the JSON string that it is', textwise(unquoted)],
  ['body_url_encoded', 'percent-decoded', textwise(percentDecoded)],
  [
    'body_url_encoded',
    'percent-decoded, with spaces for plus signs',
    textwise((t) => percentDecoded(t.replaceAll('+', ' '))),
  ],
  ['body_html_escaped', 'without its HTML escapes', textwise(htmlUnescaped)],
  ['body_padded', 'without the zero bytes at its end', (body) => trimmed(body, [], [0])],
];

/** Compressors with the settings of most senders, by the name in Content-Encoding. */
const COMPRESSORS: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  gzip: (body) => gzipSync(body),
  deflate: (body) => deflateSync(body),
  br: (body) => brotliCompressSync(body),
};

/** The findings where white space is removed and a line feed is added. */
const OTHER_END: readonly Finding[] = [
  { cause: 'white_space_changed', evidence: 'The signature matches with the body with other white space at its end.' },
];

const SPACES = [...Buffer.from(' \t\r\n')];

/**
 * Yields a body unchanged, and then in every form that it may have had when it was signed; the smallest changes first.
 */
export function* bodyRepairs(given: Uint8Array, options: BodyRepairOptions = {}): Generator<Repair> {
  const { contentEncoding = 'gzip', maxDecompressedBytes = 16 * 1024 * 1024 } = options;
  const body = Buffer.from(given);
  const changes: readonly Change[] = [
    ...CHANGES,
    ['compressed', 'decompressed', (compressed) => decompressed(compressed, maxDecompressedBytes)],
  ];
  yield { bytes: body, findings: [] };
  yield* changed(body, NEWLINES);
  yield* changed(body, changes);
  for (const [name, compress] of Object.entries(COMPRESSORS)) {
    if (!contentEncoding.includes(name) || body.length > MAX_COMPRESSED_BYTES) continue;
    yield* changed(body, [['decompressed', `compressed again (${name})`, compress]]);
  }
  for (const { bytes, findings } of changed(body, changes)) {
    for (const repair of changed(Buffer.from(bytes), NEWLINES, findings)) {
      yield findings[0]?.cause === 'white_space_changed' ? { ...repair, findings: OTHER_END } : repair;
    }
  }
  const json = parsed(utf8Text(body)?.replace(/^\ufeff/, ''));
  if (json !== undefined) yield* spelled(json.value, body);
}

/** Yields the bodies that a parser may have turned into this value. */
export function* spelled(value: unknown, body?: Buffer): Generator<Repair> {
  for (const { text, style } of jsonSpellings(value)) {
    const evidence = `The signature matches with the JSON of the body written ${style}`;
    for (const [end, ending] of [
      ['', '.'],
      ['\n', ', and a line feed at its end.'],
    ]) {
      const bytes = Buffer.from(text + end);
      if (!body?.equals(bytes))
        yield { bytes, findings: [{ cause: 'body_reserialised', evidence: evidence + ending }] };
    }
  }
}

function* changed(body: Buffer, changes: readonly Change[], before: readonly Finding[] = []): Generator<Repair> {
  for (const [cause, form, change] of changes) {
    const bytes = Buffer.from((change(body) ?? body) as string);
    if (bytes.equals(body)) continue;
    yield { bytes, findings: [...before, { cause, evidence: `The signature matches with the body ${form}.` }] };
  }
}

/** Returns a change of ASCII characters, which are the same bytes in nearly every charset. */
function bytewise(change: (text: string) => string): Change[2] {
  return (body) => Buffer.from(change(body.toString('latin1')), 'latin1');
}

/**
 * Without a regular expression, because one for the end of a text can take time that grows with the square of its
 * length.
 */
function trimmed(body: Buffer, atStart: readonly number[], atEnd: readonly number[]): Buffer {
  let [start, end] = [0, body.length];
  while (atStart.includes(body[start] as number)) start++;
  while (atEnd.includes(body[end - 1] as number)) end--;
  return body.subarray(start, end);
}

function textwise(change: (text: string) => Buffer | string | undefined): Change[2] {
  return (body) => {
    const text = utf8Text(body);
    return text === undefined ? undefined : change(text);
  };
}

function unquoted(text: string): string | undefined {
  const value = parsed(text)?.value;
  return typeof value === 'string' ? value : undefined;
}

function parsed(text = ''): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

const HTML_NAMES: Readonly<Record<string, string>> = { quot: '"', apos: "'", lt: '<', gt: '>', amp: '&' };

function htmlUnescaped(text: string): string {
  return text.replace(/&(?:(quot|apos|lt|gt|amp)|#(\d{1,6})|#x([0-9a-f]{1,5}));/gi, (whole, name, decimal, hex) => {
    if (name !== undefined) return HTML_NAMES[name] ?? whole;
    return String.fromCodePoint(decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal));
  });
}

function decompressed(body: Buffer, maxOutputLength: number): Buffer | undefined {
  for (const decompress of [gunzipSync, inflateSync, brotliDecompressSync]) {
    try {
      return decompress(body, { maxOutputLength });
    } catch {}
  }
  return undefined;
}
