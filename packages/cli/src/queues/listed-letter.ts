import { type DeadLetter, fromQueued, type QueuedDelivery } from 'service-webhooks/queue';
import type { SqliteJob } from 'service-webhooks/queue/sqlite';
import { asSpecified } from 'service-webhooks/testing';
import { Failure } from '../failure.js';
import type { HttpMessage } from '../http/http-message.js';
import { jsonFields } from '../http/json-fields.js';
import { type Piece, shortened } from '../output.js';

export type JobState = SqliteJob['state'];
/** The state of a job that is no dead letter. */
export type OtherState = Exclude<JobState, 'dead'>;

/** A job in any state, as an engine returns it. Without a state it is a dead letter. */
export type StoredJob = DeadLetter & Partial<SqliteJob>;

/** Returns a job from the values that an engine has stored, which any program may have written. */
export function storedJob(
  id: string,
  state: OtherState,
  { job, queuedAt, attempts, reason }: { job: unknown; queuedAt: number; attempts?: number; reason?: unknown },
): StoredJob {
  return { id, state, delivery: readable(job), queuedAt, diedAt: undefined, attempts, reason: text(reason) };
}

function readable(job: unknown): QueuedDelivery | undefined {
  try {
    fromQueued(job);
    return job as QueuedDelivery;
  } catch {
    return undefined;
  }
}

/** A dead letter, or a job in another state, with what is known of its event. */
export interface ListedLetter extends DeadLetter {
  state: JobState;
  /** The time of its last failure; of another job, the time of queueing. */
  at: number | undefined;
  eventId: string | undefined;
  tenant: string | undefined;
  type: string | undefined;
  /** The exact bytes of the body, where it is a queued delivery. */
  body: Buffer | undefined;
}

/** Reads the event of a dead letter; what a hostile writer has put into the queue has none. */
export function listedLetter(letter: StoredJob): ListedLetter {
  const body = letter.delivery && Buffer.from(letter.delivery.body, 'base64');
  const event = jsonFields(body ?? '');
  const { state = 'dead', diedAt, queuedAt, eventId, eventType } = letter;
  return {
    ...letter,
    state,
    at: state === 'dead' ? diedAt : queuedAt,
    eventId: text(event['id']) ?? eventId,
    tenant: text(letter.delivery?.tenant),
    type: text(event['type']) ?? eventType,
    body,
  };
}

/** What is listed of a letter. */
type Listed = Omit<ListedLetter, 'body' | 'delivery'> & { body?: Buffer | undefined; bytes?: number | undefined };

/** A letter as the fields of a record. */
export function letterFields({ id, state, at, attempts, type, eventId, tenant, reason, body, bytes }: Listed) {
  return { id, state, at: isoTime(at), attempts, type, eventId, tenant, bytes: bytes ?? body?.length, reason };
}

const MAX_REASON = 200;

/** The same as parts of a line. */
export function letterPieces({ id, state, at, attempts, type, eventId, tenant, reason }: Listed): Piece[] {
  return [
    ['strong', id],
    state !== 'dead' && state,
    ['faint', isoTime(at) ?? 'no time'],
    type ?? 'no event',
    eventId,
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
export function letterMessage({ id, delivery, body }: ListedLetter, headerPrefix: string): HttpMessage {
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
