import { fromBase64, toBase64, utf8 } from '../bytes.js';
import { WebhookError } from '../errors.js';
import type { QueuedDelivery } from '../receiver/queued-delivery.js';
import { stopwatch } from '../timers.js';
import { fingerprint } from '../verify/hmac.js';
import { type BodyCipher, bodyCipher, type EncryptionKey } from './body-cipher.js';
import { type LimitedOverflow, limitedOverflow, type Overflow } from './limited-overflow.js';
import {
  asPacked,
  checkPacked,
  isOverflowId,
  type OverflowReference,
  type PackedDelivery,
  type QueueJob,
} from './packed-delivery.js';

/** How the bodies of jobs are stored. A queue and its workers need the same. */
export interface PayloadOptions {
  /**
   * Where bodies are kept that are too large for the engine: larger than its limit, or than 256 KiB where it has none. The job
   * refers to the body, which is deleted when the job is done or discarded. Default: none.
   */
  overflow?: Overflow | undefined;
  /**
   * Encrypts the bodies of jobs with AES-256-GCM. The first key encrypts, and all of them decrypt: put a new key in front, and
   * remove an old one when no job is left that it encrypted. Default: none.
   */
  encrypt?: EncryptionKey | readonly EncryptionKey[] | undefined;
}

/** The names of {@link PayloadOptions}. */
export const PAYLOAD_OPTIONS = ['overflow', 'encrypt'] as const satisfies readonly (keyof PayloadOptions)[];

/** How an engine puts a job. */
export interface EnginePut {
  putJob(job: QueueJob): Promise<'queued' | 'known'>;
  /** Resolves to whether the job of a key is done; absent where the engine recognises no keys. */
  isFinished?: ((key: string) => Promise<boolean>) | undefined;
}

/** Stores the bodies of jobs as the options say. */
export interface Payloads {
  /** The largest body that fits into a job; undefined where every one does. */
  readonly maxBodyBytes: number | undefined;
  /** Puts a delivery. @throws WebhookError `body_unavailable`; what the engine throws */
  put(delivery: QueuedDelivery, engine: EnginePut): Promise<'queued' | 'known'>;
  /** Resolves to a stored job with its exact body. @throws WebhookError `unreadable_job`, `body_unavailable` */
  open(job: unknown): Promise<unknown>;
  /**
   * Deletes what a job keeps outside of the queue, where `isOwn` resolves to true.
   *
   * @throws WebhookError `body_unavailable`; `invalid_option` without `overflow`; what `isOwn` throws
   */
  drop(job: unknown, isOwn?: () => Promise<boolean>): Promise<void>;
}

/** Above this size, a body goes to the overflow of an engine without a limit, in bytes of the job. */
const LARGE_BYTES = 256 * 1024;
/** The size of a job without its body and without the headers that no signature covers. */
const FIELDS_BYTES = 1_000;
/** What AES-GCM adds to a body. */
const CIPHER_BYTES = 28;
/** The service sends the next attempt of an event at the earliest 30 s after the last one. */
const ALONE_MS = 20_000;

/**
 * Returns what stores the bodies of jobs: encrypted, or outside of the queue where they are too large for it. Use it for a queue
 * of your own, as `docs/add-a-queue.md` shows.
 *
 * @param maxJobBytes The largest job that the engine takes, as JSON, in bytes. Default: no limit.
 * @throws WebhookError `invalid_option`
 * @example
 * const payloads = createPayloads({ overflow, encrypt: key }, 1_048_576);
 * const put = (delivery) => payloads.put(delivery, { putJob: async (job) => (await send(JSON.stringify(job)), 'queued') });
 */
export function createPayloads(options: PayloadOptions, maxJobBytes = Number.POSITIVE_INFINITY): Payloads {
  const cipher = options.encrypt === undefined ? undefined : bodyCipher(options.encrypt);
  const overflow = options.overflow === undefined ? undefined : limitedOverflow(options.overflow);
  const isLimited = Number.isFinite(maxJobBytes) && overflow === undefined;
  const mostBytes = overflow === undefined ? maxJobBytes : Math.min(maxJobBytes, LARGE_BYTES);

  const hashOf = async (body: Uint8Array, keyId: string | undefined) =>
    keyId === undefined ? fingerprint(body) : (cipher as BodyCipher).hash(body, keyId);

  /** Puts a job whose body is kept outside. */
  async function putOutside(
    delivery: QueuedDelivery,
    { body, encryptedBy }: { body: string; encryptedBy?: string | undefined },
    overflow: LimitedOverflow,
    { putJob, isFinished }: EnginePut,
  ): Promise<'queued' | 'known'> {
    const aloneMs = stopwatch();
    const bytes = fromBase64(body);
    const hash = await hashOf(fromBase64(delivery.body), encryptedBy);
    // Two attempts of an event share a body where the engine shares their job; otherwise each job has a body of its own.
    const id = await fingerprint(`${delivery.key}:${hash}:${isFinished ? '' : crypto.randomUUID()}`);
    const { body: _, ...rest } = delivery;
    const job: PackedDelivery = { ...rest, v: 2, encryptedBy, overflow: { id, hash } };
    const wasThere = isFinished !== undefined && (await overflow.get(id)) !== undefined;
    try {
      if (!wasThere) await overflow.put(id, bytes);
      const answer = await putJob(withoutHeaders(job, maxJobBytes));
      // What was there may have been the body of an earlier job, and deleted with it.
      if (answer === 'queued' && wasThere) await overflow.put(id, bytes);
      if (answer === 'known' && !wasThere && (await isFinished?.(delivery.key))) await overflow.delete(id);
      return answer;
    } catch (error) {
      // Later, another attempt may have queued a job that needs this body.
      if (!wasThere && aloneMs() < ALONE_MS) await overflow.delete(id).catch(() => {});
      throw error;
    }
  }

  return {
    maxBodyBytes: isLimited ? largestBody(maxJobBytes, cipher) : undefined,

    async put(delivery, engine) {
      if (cipher === undefined && mostBytes === Number.POSITIVE_INFINITY) return engine.putJob(delivery);
      const inside = cipher ? await encrypted(delivery, cipher) : delivery;
      if (sizeOf(inside) <= mostBytes) return engine.putJob(inside);
      if (overflow === undefined) return engine.putJob(withoutHeaders(inside, maxJobBytes));
      return putOutside(delivery, inside, overflow, engine);
    },

    async open(job) {
      const packed = asPacked(job);
      if (packed === undefined) return job;
      checkPacked(packed);
      const { body: inside, encryptedBy, overflow: reference, ...rest } = packed;
      if (reference && overflow === undefined) throw withoutOption('kept outside of the queue', 'overflow');
      if (encryptedBy !== undefined && cipher === undefined) throw withoutOption('encrypted', 'encrypt');
      const bytes = reference && overflow ? await outsideBytes(overflow, reference) : insideBytes(inside as string);
      const body =
        encryptedBy === undefined || cipher === undefined
          ? bytes
          : await cipher.decrypt(bytes, encryptedBy, contextOf(packed));
      if (reference && (await hashOf(body, encryptedBy)) !== reference.hash) throw changedBody();
      return { ...rest, v: 1, body: toBase64(body) } satisfies QueuedDelivery;
    },

    async drop(job, isOwn = async () => true) {
      const id = asPacked(job)?.overflow?.id;
      if (!isOverflowId(id)) return;
      if (overflow === undefined) throw withoutOption('kept outside of the queue', 'overflow', 'invalid_option');
      if (await isOwn()) await overflow.delete(id);
    },
  };
}

async function encrypted(delivery: QueuedDelivery, cipher: BodyCipher) {
  const { bytes, keyId } = await cipher.encrypt(fromBase64(delivery.body), contextOf(delivery));
  return { ...delivery, v: 2, body: toBase64(bytes), encryptedBy: keyId } as const;
}

/** Returns what must not change of a job without its body being refused. */
function contextOf({ key, scheme, signedAt, secretIndex, tenant }: QueueJob): string {
  return JSON.stringify([key, scheme, signedAt ?? null, secretIndex, tenant ?? null]);
}

function sizeOf(job: QueueJob): number {
  return utf8.encode(JSON.stringify(job)).length;
}

/** Returns a job without what is no part of its event, where it is too large with it: any sender can make a header long. */
function withoutHeaders(job: QueueJob, maxBytes: number): QueueJob {
  if (sizeOf(job) <= maxBytes) return job;
  const { trace: _, ...rest } = job;
  return { ...rest, unsigned: {} };
}

function largestBody(maxJobBytes: number, cipher: BodyCipher | undefined): number {
  const base64Bytes = maxJobBytes - FIELDS_BYTES;
  return Math.floor(base64Bytes / 4) * 3 - (cipher ? CIPHER_BYTES : 0);
}

async function outsideBytes(overflow: LimitedOverflow, { id }: OverflowReference): Promise<Uint8Array> {
  const bytes = await overflow.get(id);
  if (bytes === undefined) throw missingBody();
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

function missingBody(): WebhookError {
  return new WebhookError('body_unavailable', {
    message: 'The body of the job is not in your overflow.',
    hint: 'It was handled before its worker died, or its put was refused, so that the service retries it, or another program deleted it. If your system lacks the event, let the service send it again.',
  });
}

function changedBody(): WebhookError {
  return new WebhookError('body_unavailable', {
    message: 'The body in your overflow is another than was put there.',
    hint: 'Find out what else writes there, and let the service send the event again.',
  });
}
