import { fromBase64, toBase64 } from '../bytes.js';
import { WebhookError } from '../errors.js';
import { parseEvent } from '../event.js';
import type { Scheme } from '../verify/signature.js';
import type { UnsignedHeaders } from '../verify/unsigned.js';
import type { Delivery } from '../verify/verify.js';

/**
 * A verified delivery in a queue, as JSON. `docs/queues.md` describes the format; a change that a worker of another
 * version cannot read gets another `v`.
 */
export interface QueuedDelivery {
  v: 1;
  /**
   * The identity of the event at this endpoint: `name:`, the tenant where there is one and the event id, or their hash.
   * At most 200 bytes of ASCII.
   */
  key: string;
  /** The exact bytes of the body, in base64. */
  body: string;
  scheme: Scheme | 'reconciled';
  /** The signed time, in milliseconds since the epoch; absent for legacy. */
  signedAt?: number | undefined;
  /** The time at which the receiver queued it, in milliseconds since the epoch. */
  receivedAt: number;
  /**
   * Which of the receiver's secrets matched, of the tenant's where there are tenants, counted from 0; -1 for a reconciled
   * event, which has no signature.
   */
  secretIndex: number;
  /** The tenant whose secret matched, where the receiver has tenants. */
  tenant?: string | undefined;
  /** Headers that no signature covers. */
  unsigned: UnsignedHeaders;
  /** The context of the request's span, as headers such as those of W3C Trace Context. The span of a run links to it. */
  trace?: Record<string, string> | undefined;
}

/**
 * Returns a delivery in the form in which it is put into a queue.
 *
 * @example
 * const delivery = verify({ headers, body, secret });
 * await queue.put(toQueued(delivery, `clips:${delivery.event.id}`, Date.now()));
 */
export function toQueued(delivery: Delivery, key: string, receivedAt: number): QueuedDelivery {
  const { body, scheme, signedAt, secretIndex, tenant, unsigned } = delivery;
  return { v: 1, key, body: toBase64(body), scheme, signedAt, receivedAt, secretIndex, tenant, unsigned };
}

/**
 * Returns the delivery of a queued one. It was verified when it arrived and is not verified again: a process that can
 * write to the queue can run the handlers.
 *
 * @throws WebhookError `unreadable_job` for a value of another format or version, which should stay in the queue
 * @example
 * const { event } = fromQueued(JSON.parse(message));
 */
export function fromQueued(value: unknown): Delivery {
  const { body, scheme, signedAt, secretIndex, tenant, unsigned } = checked(value);
  const bytes = bytesOf(body);
  try {
    const delivery = { event: parseEvent(bytes), body: bytes, scheme, signedAt, secretIndex, unsigned };
    return tenant === undefined ? delivery : { ...delivery, tenant };
  } catch (cause) {
    throw unreadable('The body of the job is not an event that this version can read.', cause);
  }
}

/** @throws WebhookError `unreadable_job` */
function checked(value: unknown): QueuedDelivery {
  const job = value as Partial<QueuedDelivery> | null | undefined;
  if (job?.v !== 1) {
    const found = typeof job?.v === 'number' ? `has version ${job.v}` : 'has no version';
    throw unreadable(`The job ${found}, and this worker reads version 1.`);
  }
  const { key, body, scheme, signedAt, receivedAt, secretIndex, tenant, unsigned } = job;
  const isReconciled = scheme === 'reconciled';
  const wrong = Object.entries({
    key: typeof key === 'string' && key !== '',
    body: typeof body === 'string',
    scheme: scheme === 'v2' || scheme === 'legacy' || isReconciled,
    signedAt: signedAt === undefined || Number.isFinite(signedAt),
    receivedAt: Number.isFinite(receivedAt),
    secretIndex: isReconciled ? secretIndex === -1 : Number.isSafeInteger(secretIndex) && Number(secretIndex) >= 0,
    tenant: tenant === undefined || (typeof tenant === 'string' && tenant !== ''),
    unsigned: typeof unsigned === 'object' && unsigned !== null,
  }).find(([, isRight]) => !isRight);
  if (wrong) throw unreadable(`${wrong[0]} of the job is missing or has another form than version 1 has.`);
  return job as QueuedDelivery;
}

function bytesOf(body: string): Uint8Array {
  try {
    return fromBase64(body);
  } catch (cause) {
    throw unreadable('The body of the job is not base64.', cause);
  }
}

function unreadable(message: string, cause?: unknown): WebhookError {
  return new WebhookError('unreadable_job', cause === undefined ? { message } : { message, cause });
}
