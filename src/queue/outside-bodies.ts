import { WebhookError } from '../errors.js';
import { unrefTimeout } from '../timers.js';
import type { LimitedOverflow } from './limited-overflow.js';
import { bodyIdOf, type PackedDelivery, type QueueJob } from './packed-delivery.js';

/** How an engine puts a job. */
export interface EnginePut {
  putJob(job: QueueJob): Promise<'queued' | 'known'>;
  /**
   * Resolves to the job of a key as the engine stores it, where it waits, runs or is a dead letter, and to undefined where there
   * is none. Absent where the engine recognises no keys: the body of a failed put is then deleted after a day. `since` is when the
   * put of the job began, in milliseconds since the epoch, for an engine that must search its jobs by their time.
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
  /** When it is decided at the earliest, by the monotonic clock. */
  dueAt: number;
}

/** Bodies of further failed puts are left. An entry takes some 200 bytes. */
const MOST_UNDECIDED = 10_000;
/** How long after a put has failed the engine may still store its job, in milliseconds. */
const LATEST_JOB_MS = 600_000;
/** How long the body of a failed put is kept where the engine cannot say whether it has the job, in milliseconds. */
const WITHOUT_FIND_MS = 86_400_000;
/** How long a decision holds up the others, in milliseconds. In Workers, a decision stops when its request ends. */
const LONGEST_DECISION_MS = 120_000;

export function outsideBodies(overflow: LimitedOverflow): OutsideBodies {
  /** In the order in which they are due, since each of them waits for the same time. */
  const undecided = new Map<string, UndecidedBody>();
  /** That of the latest put alone, since each `find` may hold the body of its put in memory. */
  let find: EnginePut['find'];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let decidingUntil = 0;

  /** Puts a body at the end of those that are undecided, also one that is among them. */
  function decideLater(id: string, put: JobPut): void {
    undecided.delete(id);
    if (undecided.size >= MOST_UNDECIDED) return;
    const waitMs = find === undefined ? WITHOUT_FIND_MS : LATEST_JOB_MS;
    undecided.set(id, { put, dueAt: performance.now() + waitMs });
    startTimer();
  }

  /** Starts the timer of the first body, in place of the timer that there is: one of an earlier request may never fire. */
  function startTimer(): void {
    clearTimeout(timer);
    const [first] = undecided.values();
    if (first) timer = unrefTimeout(decideDue, Math.max(0, Math.ceil(first.dueAt - performance.now())));
  }

  /** Deletes a body unless it is that of the job which the engine has. Resolves to the id of that job's body. */
  async function deleteUnlessQueued(id: string, put: JobPut): Promise<string | undefined> {
    decideLater(id, put); // If a call below fails, the body is still undecided.
    const queuedId = await bodyIdOf(await find?.(put.key, put.since));
    if (queuedId !== id) await overflow.delete(id);
    undecided.delete(id);
    return queuedId;
  }

  /** Decides about the bodies that are due, one after the other. Never rejects. */
  async function decideDue(): Promise<void> {
    if (performance.now() < decidingUntil) return;
    let [first] = undecided;
    while (first !== undefined && first[1].dueAt <= performance.now()) {
      decidingUntil = performance.now() + LONGEST_DECISION_MS;
      await deleteUnlessQueued(first[0], first[1].put).catch(() => {}); // It is due again later.
      [first] = undecided;
    }
    decidingUntil = 0;
    startTimer();
  }

  return {
    async put(job, body, { putJob, find: findNow }) {
      find = findNow;
      const { key, overflow: own } = job;
      const jobPut = { key, since: Date.now() };
      let answer: 'queued' | 'known';
      try {
        await overflow.put(own.id, body);
        answer = await putJob(job);
      } catch (error) {
        // The engine may have the job, where only its answer was lost, or store it a while later.
        const isQueued = async () => (await bodyIdOf(await findNow?.(key, jobPut.since))) === own.id;
        if (await isQueued().catch(() => false)) return 'queued';
        decideLater(own.id, jobPut);
        throw error;
      }
      if (answer === 'known') {
        const queuedId = await deleteUnlessQueued(own.id, jobPut);
        const isOther = queuedId !== undefined && queuedId !== own.id;
        if (isOther && (await overflow.get(queuedId)) === undefined) throw bodyOfKnownIsGone();
      }
      void decideDue();
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
