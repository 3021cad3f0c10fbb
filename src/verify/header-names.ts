import { check } from '../option-checks.js';

/** A header of a delivery that counts: the service's own, and those that say what the body is. */
export type HeaderField =
  | 'v2'
  | 'legacy'
  | 'webhookId'
  | 'attempt'
  | 'idempotencyKey'
  | 'contentEncoding'
  | 'contentLength';

/** The lower-case names of the headers that count. */
export interface HeaderNames extends Readonly<Record<HeaderField, string>> {
  /** The header that has a name. */
  readonly fields: ReadonlyMap<string, HeaderField>;
}

const PREFIX = /^[a-z0-9]+(-[a-z0-9]+)*$/i;

/** @throws WebhookError `invalid_option` for a prefix that no header name can begin with */
export function checkHeaderPrefix(headerPrefix: unknown): asserts headerPrefix is string {
  const isPrefix = typeof headerPrefix === 'string' && PREFIX.test(headerPrefix);
  check(isPrefix, 'headerPrefix must be letters, digits and single hyphens, like x-service');
}

// `verify` is called with the same prefix repeatedly.
const preparedNames = new Map<string, HeaderNames>();
const MAX_PREPARED = 100;

/** @throws WebhookError `invalid_option` for a prefix that no header name can begin with */
export function headerNames(headerPrefix = 'x-service'): HeaderNames {
  const prepared = preparedNames.get(headerPrefix);
  if (prepared) return prepared;
  checkHeaderPrefix(headerPrefix);
  const names = namesOf(headerPrefix.toLowerCase());
  if (preparedNames.size >= MAX_PREPARED) preparedNames.clear();
  preparedNames.set(headerPrefix, names);
  return names;
}

function namesOf(prefix: string): HeaderNames {
  const names: Record<HeaderField, string> = {
    v2: `${prefix}-signature-v2`,
    legacy: `${prefix}-signature`,
    webhookId: `${prefix}-webhook-id`,
    attempt: `${prefix}-attempt`,
    idempotencyKey: 'idempotency-key',
    contentEncoding: 'content-encoding',
    contentLength: 'content-length',
  };
  const fields = new Map(Object.entries(names).map(([field, name]) => [name, field as HeaderField]));
  return { ...names, fields };
}
