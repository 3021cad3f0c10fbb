import { WebhookError } from '../errors.js';
import type { LimitedOverflow } from './limited-overflow.js';
import { bodyIdOf, type PackedDelivery, type QueueJob } from './packed-delivery.js';

/** How an engine puts a job. */
export interface EnginePut {
  putJob(job: QueueJob): Promise<'queued' | 'known'>;
  /**
   * Resolves to the job of a key as the engine stores it, where it waits, runs or is a dead letter, and to undefined where there
   * is none. Absent where the engine recognises no keys. `since` is when the put of the job began, in milliseconds since the epoch,
   * for an engine that must search its jobs by their time.
   */
  find?: ((key: string, since: number) => Promise<unknown>) | undefined;
}

/** Puts jobs whose bodies are kept outside of the queue, each under an id of its own. */
export interface OutsideBodies {
  /** @throws WebhookError `body_unavailable`; what the engine throws */
  put(
    job: PackedDelivery & { overflow: { id: string } },
    body: Uint8Array,
    engine: EnginePut,
  ): Promise<'queued' | 'known'>;
}

/** The key of a job, and when its put began, in milliseconds since the epoch. */
interface JobPut {
  key: string;
  since: number;
}

const MOST_UNDECIDED = 1_000;
const RETRIED_EACH = 10;

export function outsideBodies(overflow: LimitedOverflow): OutsideBodies {
  /** Bodies that may belong to no job, because a put failed and the engine or the overflow was away, with the puts of their jobs. */
  const undecided = new Map<string, JobPut>();

  /** Deletes a body unless it is that of the job which the engine has. Resolves to the id of that job's body. */
  async function deleteUnlessQueued(id: string, put: JobPut, find: EnginePut['find']): Promise<string | undefined> {
    if (undecided.size < MOST_UNDECIDED) undecided.set(id, put);
    const queuedId = await bodyIdOf(await find?.(put.key, put.since));
    if (queuedId !== id) await overflow.delete(id);
    undecided.delete(id);
    return queuedId;
  }

  /** Decides about some of the bodies of earlier puts. Never rejects. */
  async function decide(find: EnginePut['find']): Promise<void> {
    for (const [id, put] of [...undecided].slice(0, RETRIED_EACH)) {
      await deleteUnlessQueued(id, put, find).catch(() => {}); // a later put tries again
    }
  }

  return {
    async put(job, body, { putJob, find }) {
      const { key, overflow: own } = job;
      const jobPut = { key, since: Date.now() };
      let answer: 'queued' | 'known';
      try {
        await overflow.put(own.id, body);
        answer = await putJob(job);
      } catch (error) {
        // The engine may have the job, where only its answer was lost.
        const queuedId = await deleteUnlessQueued(own.id, jobPut, find).catch(() => undefined);
        if (queuedId === own.id) return 'queued';
        throw error;
      }
      if (answer === 'known') {
        const queuedId = await deleteUnlessQueued(own.id, jobPut, find);
        const isOther = queuedId !== undefined && queuedId !== own.id;
        if (isOther && (await overflow.get(queuedId)) === undefined) throw bodyOfKnownIsGone();
      }
      void decide(find);
      return answer;
    },
  };
}

function bodyOfKnownIsGone(): WebhookError {
  return new WebhookError('body_unavailable', {
    message: 'The queue has a job of this event, and its body is gone.',
    hint: 'Discard its dead letter. Once the engine has forgotten its key, the service can send the event again.',
  });
}
