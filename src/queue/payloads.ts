import { fromBase64, toBase64, utf8 } from '../bytes.js';
import { WebhookError } from '../errors.js';
import type { QueuedDelivery } from '../receiver/queued-delivery.js';
import { fingerprint } from '../verify/hmac.js';
import { type BodyCipher, bodyCipher, type EncryptionKey } from './body-cipher.js';
import type { UnopenedDelivery } from './dead-letters.js';
import { type LimitedOverflow, limitedOverflow, type Overflow } from './limited-overflow.js';
import { type EnginePut, outsideBodies } from './outside-bodies.js';
import {
  asPacked,
  bodyIdOf,
  checkPacked,
  newBodyId,
  type OverflowReference,
  type QueueJob,
} from './packed-delivery.js';

/** How the bodies of jobs are stored. A queue and its workers need the same. */
export interface PayloadOptions {
  /**
   * Where bodies are kept that are too large for the engine: larger than its limit, or than 256 KiB where it has none. The job
   * refers to the body, which is deleted when the job is done or discarded. Default: none, so that every body is in its job.
   */
  overflow?: Overflow | undefined;
  /**
   * Encrypts the bodies of jobs with AES-256-GCM. The first key encrypts, and all of them decrypt: put a new key in front, and
   * remove an old one when no job is left that it encrypted. Default: none. An `encrypt` that is undefined is refused, because the
   * variable of its key may be missing: leave it out if bodies need no encryption.
   */
  encrypt?: EncryptionKey | readonly EncryptionKey[];
}

/** The names of {@link PayloadOptions}. */
export const PAYLOAD_OPTIONS = ['overflow', 'encrypt'] as const satisfies readonly (keyof PayloadOptions)[];

/** Stores the bodies of jobs as the options say. */
export interface Payloads {
  /** The largest body that fits into a job; undefined where every one does. */
  readonly maxBodyBytes: number | undefined;
  /** Puts a delivery. @throws WebhookError `body_unavailable`; what the engine throws */
  put(delivery: QueuedDelivery, engine: EnginePut): Promise<'queued' | 'known'>;
  /** Resolves to what is missing to read a job, and to undefined where nothing is. */
  lacks(job: unknown): Promise<UnopenedDelivery['needs']>;
  /** Resolves to a stored job with its exact body. @throws WebhookError `unreadable_job`, `body_unavailable` */
  open(job: unknown): Promise<unknown>;
  /**
   * Deletes what a job keeps outside of the queue, where `isOwn` resolves to true.
   *
   * @throws WebhookError `body_unavailable`; `invalid_option` without `overflow`
   */
  drop(job: unknown, isOwn?: () => Promise<boolean>): Promise<void>;
}

/** Above this size, a body goes to the overflow of an engine without a limit, in bytes of the job. */
const LARGE_BYTES = 256 * 1024;
/** The size of a job without its body and without the headers that no signature covers. */
const FIELDS_BYTES = 1_000;
/** What AES-GCM adds to a body. */
const CIPHER_BYTES = 28;

/**
 * Returns what stores the bodies of jobs: encrypted, or outside of the queue where they are too large for it. Use it for a queue
 * of your own, as `docs/add-a-queue.md` shows.
 *
 * @param maxJobBytes The largest job that the engine takes, as JSON, in bytes. Default: no limit.
 * @throws WebhookError `invalid_option`
 * @example
 * const payloads = createPayloads({ encrypt: process.env['QUEUE_KEY'] ?? '' }, 1_048_576); // an empty key throws
 * const queue: DeliveryQueue = {
 *   name: 'clips',
 *   maxBodyBytes: payloads.maxBodyBytes,
 *   put: (delivery) => payloads.put(delivery, { putJob: send }),
 * };
 */
export function createPayloads(options: PayloadOptions, maxJobBytes = Number.POSITIVE_INFINITY): Payloads {
  const cipher = 'encrypt' in options ? bodyCipher(options.encrypt) : undefined;
  const overflow = options.overflow === undefined ? undefined : limitedOverflow(options.overflow);
  const isLimited = Number.isFinite(maxJobBytes) && overflow === undefined;
  const outside = overflow && outsideBodies(overflow);
  const mostInside = overflow === undefined ? maxJobBytes : Math.min(maxJobBytes, LARGE_BYTES);

  return {
    maxBodyBytes: isLimited ? largestBody(maxJobBytes, cipher) : undefined,

    async put(delivery, engine) {
      if (cipher === undefined && mostInside === Number.POSITIVE_INFINITY) return engine.putJob(delivery);
      const job = cipher ? await encrypted(delivery, cipher) : delivery;
      if (sizeOf(job) <= mostInside) return engine.putJob(job);
      if (outside === undefined) return engine.putJob(withoutHeaders(job, maxJobBytes));
      const { body, ...rest } = job;
      const bytes = fromBase64(body);
      const reference = { id: await newBodyId(job.key), hash: await fingerprint(bytes) };
      const outsideJob = { ...rest, v: 2, overflow: reference } as const;
      return outside.put(withoutHeaders(outsideJob, maxJobBytes), bytes, engine);
    },

    async lacks(job) {
      const { encryptedBy, overflow: reference } = asPacked(job) ?? {};
      if (reference && overflow === undefined) return 'overflow';
      if (typeof encryptedBy !== 'string') return undefined;
      if (cipher === undefined) return 'encrypt';
      return (await cipher.has(encryptedBy)) ? undefined : 'key';
    },

    async open(job) {
      const packed = asPacked(job);
      if (packed === undefined) return job;
      await checkPacked(packed);
      const { body: inside, encryptedBy, overflow: reference, ...rest } = packed;
      if (reference && overflow === undefined) throw withoutOption('kept outside of the queue', 'overflow');
      if (encryptedBy !== undefined && cipher === undefined) throw withoutOption('encrypted', 'encrypt');
      const bytes = reference && overflow ? await outsideBytes(overflow, reference) : insideBytes(inside as string);
      const body =
        encryptedBy === undefined || cipher === undefined
          ? bytes
          : await cipher.decrypt(bytes, encryptedBy, contextOf(packed));
      return { ...rest, v: 1, body: toBase64(body) } satisfies QueuedDelivery;
    },

    async drop(job, isOwn = async () => true) {
      const id = await bodyIdOf(job);
      if (id === undefined) return;
      if (overflow === undefined) throw withoutOption('kept outside of the queue', 'overflow', 'invalid_option');
      if (await isOwn().catch(unknownOwner)) await overflow.delete(id);
    },
  };
}

/** Returns the options of a worker whose queue knows how bodies are stored: the worker's own come first. */
export function withPayloads<Options extends PayloadOptions>(worker: Options, queue: PayloadOptions): Options {
  const { overflow = queue.overflow, encrypt = queue.encrypt } = Object(worker) as PayloadOptions;
  return { ...worker, overflow, ...(encrypt !== undefined && { encrypt }) };
}

/** Opens no packed job, for those who need no bodies. */
export const withoutBodies: Payloads = createPayloads({});

async function encrypted(delivery: QueuedDelivery, cipher: BodyCipher) {
  const { bytes, keyId } = await cipher.encrypt(fromBase64(delivery.body), contextOf(delivery));
  return { ...delivery, v: 2, body: toBase64(bytes), encryptedBy: keyId } as const;
}

/** Returns what must not change of a job without its body being refused. */
function contextOf({ key, scheme, signedAt, secretIndex, tenant }: QueueJob): string {
  return JSON.stringify([key, scheme, signedAt ?? null, secretIndex, tenant ?? null]);
}

function sizeOf(job: object): number {
  return utf8.encode(JSON.stringify(job)).length;
}

/** Returns a job without what is no part of its event, where it is too large with it: any sender can make a header long. */
function withoutHeaders<Job extends Omit<QueueJob, 'body'>>(job: Job, maxBytes: number): Job {
  if (sizeOf(job) <= maxBytes) return job;
  const { trace: _, ...rest } = job;
  return { ...rest, unsigned: {} } as unknown as Job;
}

function largestBody(maxJobBytes: number, cipher: BodyCipher | undefined): number {
  const base64Bytes = maxJobBytes - FIELDS_BYTES;
  return Math.floor(base64Bytes / 4) * 3 - (cipher ? CIPHER_BYTES : 0);
}

async function outsideBytes(overflow: LimitedOverflow, { id, hash }: OverflowReference): Promise<Uint8Array> {
  const bytes = await overflow.get(id);
  if (bytes === undefined) throw missingBody();
  if ((await fingerprint(bytes)) !== hash) throw changedBody();
  return bytes;
}

function insideBytes(body: string): Uint8Array {
  try {
    return fromBase64(body);
  } catch (cause) {
    throw new WebhookError('unreadable_job', { message: 'The body of the job is not base64.', cause });
  }
}

function withoutOption(
  state: string,
  option: keyof PayloadOptions,
  code: 'unreadable_job' | 'invalid_option' = 'unreadable_job',
): WebhookError {
  const message = `The body of the job is ${state}, and ${option} is not set.`;
  return new WebhookError(code, { message, hint: `Pass the ${option} of the receiver's queue here too.` });
}

function unknownOwner(cause: unknown): never {
  const message = "The engine did not say whether the job is still this worker's, so its body was not deleted.";
  throw new WebhookError('body_unavailable', { message, cause });
}

function missingBody(): WebhookError {
  return new WebhookError('body_unavailable', {
    message: 'The body of the job is not in your overflow.',
    hint: 'The event was handled before its worker died, or another program deleted the body. If your system lacks the event, discard the job and let the service send it again.',
  });
}

function changedBody(): WebhookError {
  return new WebhookError('body_unavailable', {
    message: 'The body in your overflow is another than was put there.',
    hint: 'Find out what else writes there, and let the service send the event again.',
  });
}
