import { hexOf } from '../bytes.js';
import { WebhookError } from '../errors.js';
import type { QueuedDelivery } from '../receiver/queued-delivery.js';
import { fingerprint } from '../verify/hmac.js';

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
  /** 64 hex digits: 32 of the SHA-256 of the job's key, and 32 that are random. No two jobs share a body. */
  id: string;
  /** The SHA-256 of what is kept, which is encrypted where the job is, in hex. */
  hash: string;
}

/** Returns a stored job as a packed delivery, or undefined where it has another version. */
export function asPacked(job: unknown): PackedDelivery | undefined {
  const { v, key } = (job ?? {}) as Partial<PackedDelivery>;
  return v === 2 && typeof key === 'string' && key !== '' ? (job as PackedDelivery) : undefined;
}

/** Returns a new id for the body of a job. */
export async function newBodyId(key: string): Promise<string> {
  return (await idPrefix(key)) + hexOf(crypto.getRandomValues(new Uint8Array(16)));
}

/**
 * Returns the id of the body that a job keeps outside, and undefined where it keeps none. A program that writes to the queue could
 * name the body of another job, or any file: such an id is none.
 */
export async function bodyIdOf(job: unknown): Promise<string | undefined> {
  const { key, overflow } = asPacked(job) ?? {};
  const id: unknown = overflow?.id;
  const isId = typeof id === 'string' && /^[0-9a-f]{64}$/.test(id) && id.startsWith(await idPrefix(key as string));
  return isId ? id : undefined;
}

async function idPrefix(key: string): Promise<string> {
  return (await fingerprint(key)).slice(0, 32);
}

/** Checks where a packed delivery has its body. @throws WebhookError `unreadable_job` */
export async function checkPacked(packed: PackedDelivery): Promise<void> {
  const { body, encryptedBy, overflow } = packed;
  const isEncrypted = typeof encryptedBy === 'string';
  const isInside = typeof body === 'string' && isEncrypted && overflow === undefined;
  const isOutside = body === undefined && typeof overflow?.hash === 'string' && (await bodyIdOf(packed)) !== undefined;
  if ((isEncrypted || encryptedBy === undefined) && (isInside || isOutside)) return;
  throw new WebhookError('unreadable_job', { message: 'The job has another form than version 2 has.' });
}
