import { WebhookError } from '../errors.js';
import type { QueuedDelivery } from '../receiver/queued-delivery.js';

/**
 * A delivery whose body is encrypted, or kept outside of the queue, or both. A worker without `encrypt` or `overflow` leaves
 * it in the queue as `unreadable_job`.
 */
export interface PackedDelivery extends Omit<QueuedDelivery, 'v' | 'body'> {
  v: 2;
  /** The encrypted body in base64: 12 bytes of the nonce, then the result of AES-256-GCM. Absent where it is kept outside. */
  body?: string | undefined;
  /** The id of the key that encrypted the body; absent where it is not encrypted. */
  encryptedBy?: string | undefined;
  /** Where the body is kept, which is encrypted where `encryptedBy` is there; absent where it is in `body`. */
  overflow?: OverflowReference | undefined;
}

/** A job as an engine stores it. */
export type QueueJob = QueuedDelivery | PackedDelivery;

/** What a job has in place of a body that is kept outside. */
export interface OverflowReference {
  /** 64 hex digits. */
  id: string;
  /** The SHA-256 of the exact body; of an encrypted one the HMAC-SHA-256 with its key. In hex. */
  hash: string;
}

/** Returns a stored job as a packed delivery, or undefined where it has another version. */
export function asPacked(job: unknown): PackedDelivery | undefined {
  const { v, key } = (job ?? {}) as Partial<PackedDelivery>;
  return v === 2 && typeof key === 'string' && key !== '' ? (job as PackedDelivery) : undefined;
}

/** Whether a value can be the id of a body: another one, which a program has stored, could name any file to an overflow. */
export function isOverflowId(id: unknown): id is string {
  return typeof id === 'string' && /^[0-9a-f]{64}$/.test(id);
}

/** Checks where a packed delivery has its body. @throws WebhookError `unreadable_job` */
export function checkPacked({ body, encryptedBy, overflow }: PackedDelivery): void {
  const isEncrypted = typeof encryptedBy === 'string';
  const isInside = typeof body === 'string' && isEncrypted && overflow === undefined;
  const isOutside = body === undefined && isOverflowId(overflow?.id) && typeof overflow?.hash === 'string';
  if ((isEncrypted || encryptedBy === undefined) && (isInside || isOutside)) return;
  throw new WebhookError('unreadable_job', { message: 'The job has another form than version 2 has.' });
}
