import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { type HttpMessage, resign } from '../http/http-message.js';
import type { Secret } from '../verify/secret.js';
import { Failure } from './failure.js';
import { redactJson } from './redact-json.js';
import { signedTime } from './signature-fault.js';

/** Fields that are left out of a delivery, and the secret that it is signed with after that. */
export interface Redaction {
  fields: readonly string[];
  secret: Secret;
}

/** What a receiver checks: without it, the delivery is none. */
const KEPT = ['id', 'type', 'version', 'timestamp'];

export function redactOption() {
  return new Option(
    '--redact <fields>',
    'fields of the body to replace, as in data.downloadUrl,data.*.text (repeatable)',
  ).argParser((text, others: readonly string[] = []): readonly string[] => {
    const fields = text.split(',').map((field) => field.trim());
    const wrong = fields.find((field) => !/^[^.\s]+(\.[^.\s]+)*$/.test(field));
    if (wrong !== undefined) throw new InvalidArgumentError('It takes names with dots, as in data.downloadUrl.');
    const kept = fields.find((field) => KEPT.includes(field));
    if (kept !== undefined) throw new InvalidArgumentError(`Every receiver checks ${kept}: it has to stay.`);
    return [...others, ...fields];
  });
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
