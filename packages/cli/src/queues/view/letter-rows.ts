import { printable } from 'service-webhooks/printable';
import { shortened } from '../../output.js';
import { viewBody } from '../../page/attempt-details.js';
import type { Header } from '../../page/page-source.js';
import type { LetterDetails, LetterRow } from '../../page/queue-source.js';
import { isoTime, type ListedLetter } from '../listed-letter.js';

/** What is shown of a value; longer than any that this package writes. */
const [MAX_WORD, MAX_REASON, MAX_STACK] = [200, 1_000, 8_000];
const MAX_HEADERS = 20;

/** Returns a job as a row of the page. */
export function letterRow(
  handle: number,
  { id, type, eventId, tenant, at, attempts, reason, notShown }: RowParts,
  shortOf: (id: string) => string,
): LetterRow {
  return {
    handle,
    id: word(id) ?? '',
    shortId: word(shortOf(id)) ?? '',
    type: word(type),
    eventId: word(eventId),
    tenant: word(tenant),
    at: time(at),
    attempts: typeof attempts === 'number' ? attempts : undefined,
    reason: reasonText(reason),
    notShown: word(notShown),
  };
}

type RowParts = Pick<ListedLetter, 'id' | 'type' | 'eventId' | 'tenant' | 'at' | 'attempts' | 'reason' | 'notShown'>;

/** Returns everything about a job. */
export function letterDetails(handle: number, letter: ListedLetter, shortOf: (id: string) => string): LetterDetails {
  const { delivery, body, state, stack } = letter;
  const key = word(letter.key);
  return {
    ...letterRow(handle, letter, shortOf),
    state,
    stack: typeof stack === 'string' ? lines(stack) : undefined,
    endpoint: key?.includes(':') ? key.slice(0, key.indexOf(':')) : undefined,
    key,
    scheme: word(delivery?.scheme),
    receivedAt: time(delivery?.receivedAt),
    signedAt: time(delivery?.signedAt),
    unsigned: headersIn(delivery?.unsigned),
    body: body && viewBody(body),
  };
}

/** Returns a reason as it is shown. */
function reasonText(reason: unknown): string | undefined {
  return typeof reason === 'string' ? printable(shortened(reason, MAX_REASON)) : undefined;
}

/** Any program may have stored another value than a text. */
function word(value: unknown): string | undefined {
  return typeof value === 'string' ? printable(shortened(value, MAX_WORD)) : undefined;
}

function lines(text: string): string {
  return shortened(text, MAX_STACK).split('\n').map(printable).join('\n');
}

/** Returns undefined also for a number that a Date cannot have. */
function time(value: unknown): number | undefined {
  return typeof value === 'number' && isoTime(value) !== undefined ? value : undefined;
}

const NAMES: Readonly<Record<string, string>> = {
  idempotencyKey: 'Idempotency-Key',
  webhookId: 'Webhook-Id',
  attempt: 'Attempt',
};

function headersIn(unsigned: unknown): Header[] {
  const entries: [string, unknown][] = Object.entries(Object(unsigned));
  const given = entries.filter(([, value]) => value !== undefined && value !== null).slice(0, MAX_HEADERS);
  return given.map(([name, value]) => [
    NAMES[name] ?? word(name) ?? '',
    word(typeof value === 'string' ? value : JSON.stringify(value)) ?? '',
  ]);
}
