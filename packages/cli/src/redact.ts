import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { Secret } from 'service-webhooks';
import { Failure } from './failure.js';
import { type HttpMessage, resign } from './http/http-message.js';
import { signedTime } from './signature-fault.js';

/** Fields that are left out of a delivery, and the secret that it is signed with after that. */
export interface Redaction {
  fields: readonly string[];
  secret: Secret;
}

/** What a receiver checks: without it, the delivery is none. */
const KEPT = ['id', 'type', 'version', 'timestamp'];

export function redactOption(says = 'fields of the body to replace, as in data.downloadUrl,data.*.text (repeatable)') {
  return new Option('--redact <fields>', says).argParser((text, others: readonly string[] = []): readonly string[] => [
    ...others,
    ...fieldsIn(text),
  ]);
}

/** Returns the fields that a text names, with commas. @throws InvalidArgumentError */
export function fieldsIn(text: string): string[] {
  const fields = text.split(',').map((field) => field.trim());
  const wrong = fields.find((field) => !/^[^.\s]+(\.[^.\s]+)*$/.test(field));
  if (wrong !== undefined) throw new InvalidArgumentError('It takes names with dots, as in data.downloadUrl.');
  const kept = fields.find((field) => KEPT.includes(field));
  if (kept !== undefined) throw new InvalidArgumentError(`Every receiver checks ${kept}: it has to stay.`);
  return fields;
}

/** @throws Failure unless both are given or none */
export function checkSigned(fields: readonly string[] | undefined, signWith: string | undefined): void {
  if ((fields === undefined) === (signWith === undefined)) return;
  const advice =
    'a redacted delivery is signed again: give both --redact and --sign-with, with a secret of your tests.';
  throw new Failure('usage', advice);
}

/**
 * A delivery without the fields, signed again as of its own time. Only the headers that the service sends stay: others
 * tell of the proxies and machines on the way. Undefined for a body that is no JSON.
 */
export function redactDelivery(
  message: HttpMessage,
  { fields, secret }: Redaction,
  { headerPrefix, at }: { headerPrefix: string; at: number },
): { message: HttpMessage; found: readonly string[] } | undefined {
  const text = Buffer.from(message.body).toString();
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  const redacted = redactJson(text, fields);
  const body = Buffer.from(redacted.text);
  const prefix = headerPrefix.toLowerCase();
  const sent = ['content-type', 'idempotency-key', `${prefix}-webhook-id`, `${prefix}-attempt`];
  const kept = message.headers.filter(([name]) => sent.includes(name.toLowerCase()));
  const time = signedTime(message, headerPrefix) ?? at;
  const headers = resign({ headers: kept, body }, { secret, at: time, headerPrefix });
  return { message: { ...message, headers, body }, found: redacted.found };
}

/** What stands in the place of a redacted text. A text that was a URL stays one, for handlers that parse it. */
const TEXT = '"redacted"';
const URL_TEXT = '"https://redacted.invalid/"';

interface Frame {
  isObject: boolean;
  /** The name or the index of the value that comes next; undefined where a name comes first. */
  key: string | number | undefined;
}

export interface RedactedJson {
  text: string;
  /** The fields that there were, as they were given. */
  found: readonly string[];
  /** The values that are left out, as JSON: texts, numbers and words, also those inside of objects and lists. */
  values: readonly string[];
}

/**
 * Replaces fields of a JSON text by a value of the same type. Every other character stays, also spaces and the digits of
 * numbers. A field is a path, `data.items.0.name`, in which `*` stands for any one name or index.
 *
 * Works on the text without recursion, since what `JSON.parse` accepts may be nested deeper than a stack is.
 *
 * @param text JSON that `JSON.parse` accepts
 */
export function redactJson(text: string, fields: readonly string[]): RedactedJson {
  const paths = fields.map((field) => field.split('.'));
  const found = new Set<string>();
  const frames: Frame[] = [];
  const pieces: string[] = [];
  const values: string[] = [];
  let copied = 0;
  /** The container that is being left out. */
  let hidden: { depth: number; from: number } | undefined;

  const isNamed = (): boolean => {
    if (hidden) return false;
    const isHere = (path: readonly string[]) =>
      path.length === frames.length && path.every((part, i) => part === '*' || part === `${frames[i]?.key}`);
    const named = fields.filter((_, i) => isHere(paths[i] as string[]));
    for (const field of named) found.add(field);
    return named.length > 0;
  };
  const replace = (from: number, to: number, by: string): void => {
    pieces.push(text.slice(copied, from), by);
    copied = to;
  };

  for (let at = 0; at < text.length; ) {
    const character = text[at] as string;
    const frame = frames.at(-1);
    if (character === '{' || character === '[') {
      if (isNamed()) hidden = { depth: frames.length, from: at };
      frames.push(character === '{' ? { isObject: true, key: undefined } : { isObject: false, key: 0 });
    } else if (character === '}' || character === ']') {
      frames.pop();
      if (hidden?.depth === frames.length) {
        replace(hidden.from, at + 1, character === '}' ? '{}' : '[]');
        hidden = undefined;
      }
    } else if (character === ',' && frame) {
      frame.key = typeof frame.key === 'number' ? frame.key + 1 : undefined;
    } else if (!/[\s:]/.test(character)) {
      const end = character === '"' ? endOfString(text, at) : endOfWord(text, at);
      const value = text.slice(at, end);
      if (frame?.isObject && frame.key === undefined) frame.key = JSON.parse(value);
      else if (hidden) values.push(value);
      else if (isNamed()) {
        values.push(value);
        replace(at, end, inPlaceOf(value));
      }
      at = end;
      continue;
    }
    at += 1;
  }
  const redacted = pieces.join('') + text.slice(copied);
  return { text: redacted, found: fields.filter((field) => found.has(field)), values };
}

function inPlaceOf(value: string): string {
  if (value.startsWith('"')) return /^"https?:\\?\//i.test(value) ? URL_TEXT : TEXT;
  if (value === 'null') return value;
  return value === 'true' || value === 'false' ? 'false' : '0';
}

function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); ; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (text[quote - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
  }
}

function endOfWord(text: string, start: number): number {
  let end = start;
  while (end < text.length && !/[\s,\]}]/.test(text[end] as string)) end += 1;
  return end;
}
