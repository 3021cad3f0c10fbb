import { WebhookError } from '../errors.js';
import { unrefTimeout } from '../timers.js';
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

/** A body that may belong to no job. */
interface UndecidedBody {
  put: JobPut;
  /** When it is decided at the earliest, in milliseconds since the epoch. */
  decideAt: number;
}

const MOST_UNDECIDED = 1_000;
const DECIDED_EACH = 10;
/** How long after a put has failed the engine may still store its job, in milliseconds. */
const LATEST_JOB_MS = 600_000;

export function outsideBodies(overflow: LimitedOverflow): OutsideBodies {
  const undecided = new Map<string, UndecidedBody>();

  function decideLater(id: string, put: JobPut, afterMs: number): void {
    if (undecided.size < MOST_UNDECIDED) undecided.set(id, { put, decideAt: Date.now() + afterMs });
  }

  /** Deletes a body unless it is that of the job which the engine has. Resolves to the id of that job's body. */
  async function deleteUnlessQueued(id: string, put: JobPut, find: EnginePut['find']): Promise<string | undefined> {
    decideLater(id, put, 0); // where a call fails
    const queuedId = await bodyIdOf(await find?.(put.key, put.since));
    if (queuedId !== id) await overflow.delete(id);
    undecided.delete(id);
    return queuedId;
  }

  /** Decides about some of the bodies of earlier puts. Never rejects. */
  async function decide(find: EnginePut['find']): Promise<void> {
    const due = [...undecided].filter(([, { decideAt }]) => decideAt <= Date.now());
    for (const [id, { put }] of due.slice(0, DECIDED_EACH)) {
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
        // The engine may have the job, where only its answer was lost, or store it a while later.
        const isQueued = async () => (await bodyIdOf(await find?.(key, jobPut.since))) === own.id;
        if (await isQueued().catch(() => false)) return 'queued';
        decideLater(own.id, jobPut, LATEST_JOB_MS);
        unrefTimeout(() => decide(find), LATEST_JOB_MS);
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
