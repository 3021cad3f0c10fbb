import { WebhookError } from '../errors.js';
import type { LimitedOverflow } from './limited-overflow.js';
import { bodyIdOf, type PackedDelivery, type QueueJob } from './packed-delivery.js';

/** How an engine puts a job. */
export interface EnginePut {
  putJob(job: QueueJob): Promise<'queued' | 'known'>;
  /**
   * Resolves to the job of a key as the engine stores it, where it waits, runs or is a dead letter, and to undefined where there
   * is none. Absent where the engine recognises no keys.
   */
  find?: ((key: string) => Promise<unknown>) | undefined;
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

const MOST_UNDECIDED = 1_000;
const RETRIED_EACH = 10;

export function outsideBodies(overflow: LimitedOverflow): OutsideBodies {
  /** Bodies that may belong to no job, because a put failed and the engine or the overflow was away, with the keys of their jobs. */
  const undecided = new Map<string, string>();

  /** Deletes a body unless the engine has its job. Resolves to whether it has. */
  async function deleteUnlessQueued(id: string, key: string, find: EnginePut['find']): Promise<boolean> {
    if (undecided.size < MOST_UNDECIDED) undecided.set(id, key);
    const isQueued = (await bodyIdOf(await find?.(key))) === id;
    if (!isQueued) await overflow.delete(id);
    undecided.delete(id);
    return isQueued;
  }

  /** Decides about some of the bodies of earlier puts. Never rejects. */
  async function decide(find: EnginePut['find']): Promise<void> {
    for (const [id, key] of [...undecided].slice(0, RETRIED_EACH)) {
      await deleteUnlessQueued(id, key, find).catch(() => {}); // a later put tries again
    }
  }

  return {
    async put(job, body, { putJob, find }) {
      const { key, overflow: own } = job;
      let answer: 'queued' | 'known';
      try {
        await overflow.put(own.id, body);
        answer = await putJob(job);
      } catch (error) {
        // The engine may have the job, where only its answer was lost.
        if (await deleteUnlessQueued(own.id, key, find).catch(() => false)) return 'queued';
        throw error;
      }
      if (answer === 'known') {
        await deleteUnlessQueued(own.id, key, find).catch(() => {});
        const knownId = await bodyIdOf(await find?.(key));
        if (knownId !== undefined && (await overflow.get(knownId)) === undefined) throw bodyOfKnownIsGone();
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
