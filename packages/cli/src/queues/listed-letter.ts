import { type DeadLetter, fromQueued, type jobReader, type QueuedDelivery } from 'service-webhooks/queue';
import type { SqliteJob } from 'service-webhooks/queue/sqlite';
import { asSpecified } from 'service-webhooks/testing';
import { Failure } from '../failure.js';
import type { HttpMessage } from '../http/http-message.js';
import { jsonFields } from '../http/json-fields.js';
import { type Piece, shortened } from '../output.js';
import { redactLetter } from './redact-letter.js';
import { eventIdInKey, tenantInKey, whyNotShown } from './unopened-letter.js';

export type JobState = SqliteJob['state'];
/** The state of a job that is no dead letter. */
export type OtherState = Exclude<JobState, 'dead'>;

/** A job in any state, as an engine returns it. Without a state it is a dead letter. */
export type StoredJob = DeadLetter & Partial<SqliteJob>;

/** What an engine has stored of a job, which any program may have written. */
interface StoredValues {
  state: OtherState;
  job: unknown;
  queuedAt: number;
  attempts?: number;
  reason?: unknown;
}

/** Resolves to a job from the values that an engine has stored. */
export async function storedJob(
  read: ReturnType<typeof jobReader>,
  id: string,
  { state, job, queuedAt, attempts, reason }: StoredValues,
): Promise<StoredJob> {
  const { delivery, unopened } = await read(job);
  const about = { id, state, queuedAt, diedAt: undefined, attempts, reason: text(reason) };
  return { ...about, delivery: isReadable(delivery) ? delivery : undefined, unopened };
}

function isReadable(delivery: QueuedDelivery | undefined): boolean {
  try {
    fromQueued(delivery);
    return true;
  } catch {
    return false;
  }
}

/** A dead letter, or a job in another state, with what is known of its event and without what must not be shown. */
export interface ListedLetter extends Omit<DeadLetter, 'delivery' | 'unopened'> {
  state: JobState;
  /** The time of its last failure; of another job, the time of queueing. */
  at: number | undefined;
  eventId: string | undefined;
  tenant: string | undefined;
  type: string | undefined;
  /** What identifies the event at its endpoint; undefined where it is no delivery of this version. */
  key: string | undefined;
  /** The delivery but for its body; undefined where that could not be read. */
  delivery: Omit<QueuedDelivery, 'body'> | undefined;
  /** The body, with the redacted fields replaced; undefined where it could not be read. */
  body: Buffer | undefined;
  /** The size of the body, in bytes. */
  bytes: number | undefined;
  /** Why the body of a delivery is not shown, and what to do about it. */
  notShown: string | undefined;
}

/** How letters are shown. */
export interface Shown {
  /** The fields that are replaced in their bodies, reasons and stacks; undefined for none. */
  redact?: readonly string[] | undefined;
}

/**
 * Reads the event of a dead letter; what a hostile writer has put into the queue has none. Whatever is printed of a job, or
 * is on a page, comes from here.
 */
export function listedLetter({ delivery, unopened, ...stored }: StoredJob, { redact }: Shown): ListedLetter {
  const body = delivery && Buffer.from(delivery.body, 'base64');
  const event = jsonFields(body ?? '');
  const { state = 'dead', diedAt, queuedAt, eventId, eventType } = stored;
  const key = text(delivery?.key ?? unopened?.key);
  const letter = {
    ...stored,
    state,
    at: state === 'dead' ? diedAt : queuedAt,
    eventId: text(event['id']) ?? eventId ?? (unopened && eventIdInKey(key)),
    tenant: text(delivery ? delivery.tenant : unopened?.tenant) ?? (unopened && tenantInKey(key)),
    type: text(event['type']) ?? eventType,
    ...{ key, body, bytes: body?.length, delivery: delivery && withoutBody(delivery) },
    notShown: unopened && whyNotShown(unopened),
  };
  return redact === undefined ? letter : redactLetter(letter, redact);
}

function withoutBody({ body: _, ...delivery }: QueuedDelivery): Omit<QueuedDelivery, 'body'> {
  return delivery;
}

/** What is listed of a letter. */
type Listed = Omit<ListedLetter, 'body' | 'delivery'>;

/** A letter as the fields of a record. */
export function letterFields(letter: Listed) {
  const { id, state, at, attempts, type, eventId, tenant, bytes, reason, notShown } = letter;
  return { id, state, at: isoTime(at), attempts, type, eventId, tenant, bytes, reason, notShown };
}

/** The type of an event, or why there is none. */
export function typeWords({ type, notShown }: Pick<ListedLetter, 'type' | 'notShown'>): string {
  return type ?? (notShown === undefined ? 'no event' : 'body not shown');
}

/** The id of an event, or else what identifies it where its id is not known. */
function eventWords({ eventId, key, notShown }: Listed): string | undefined {
  return eventId ?? (notShown === undefined ? undefined : key);
}

const MAX_REASON = 200;

/** The same as parts of a line. */
export function letterPieces(letter: Listed): Piece[] {
  const { id, state, at, attempts, tenant, reason } = letter;
  return [
    ['strong', id],
    state !== 'dead' && state,
    ['faint', isoTime(at) ?? 'no time'],
    typeWords(letter),
    eventWords(letter),
    tenant !== undefined && `of ${tenant}`,
    attempts !== undefined && ['faint', `attempts ${attempts}`],
    reason !== undefined && ['bad', shortened(reason, MAX_REASON)],
  ];
}

/**
 * Returns a dead letter as the request that brought it, without its signature, which the queue does not keep. Headers
 * that cannot be sent, as a hostile writer may have put them into the queue, are left out.
 *
 * @throws Failure for a job that is no delivery of this version
 */
export function letterMessage({ id, delivery, body, notShown }: ListedLetter, headerPrefix: string): HttpMessage {
  if (notShown !== undefined) throw new Failure('usage', `dead letter ${id} cannot be sent. ${notShown}`);
  if (delivery === undefined || body === undefined)
    throw new Failure('usage', `dead letter ${id} is no delivery that this version can read: it cannot be sent.`);
  const { idempotencyKey, webhookId, attempt } = Object(delivery.unsigned);
  const prefix = headerPrefix.toLowerCase();
  const headers = Object.entries({
    'content-type': 'application/json',
    [`${prefix}-webhook-id`]: webhookId,
    [`${prefix}-attempt`]: attempt,
    'idempotency-key': idempotencyKey,
  }).flatMap(([name, value]) => (/^[!-~]{1,1024}$/.test(String(value ?? '')) ? [[name, String(value)]] : []));
  return { method: 'POST', path: '/', headers: asSpecified(Object.fromEntries(headers)), body };
}

/** The time in ISO 8601; undefined also for a number that is no time. */
export function isoTime(ms: number | undefined): string | undefined {
  const date = new Date(ms ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
