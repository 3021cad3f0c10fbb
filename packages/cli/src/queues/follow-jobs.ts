import { setTimeout as sleep } from 'node:timers/promises';
import type { FollowedJob, FollowedState } from 'service-webhooks/queue';
import { reasonOf } from '../failure.js';

/** The jobs of retried dead letters, which are followed until they end. */
export interface FollowedJobs<Letter> {
  add(letter: Letter, job: FollowedJob): void;
  /** The letters whose jobs have not ended, each with the reason where the engine did not say how far its job is. */
  readonly pending: ReadonlyMap<Letter, { problem?: string | undefined }>;
  /**
   * Looks at the jobs until `adding` has settled and all have ended, and closes those that have not ended when the time is
   * over, the signal is aborted or the engine does not answer any more. Never rejects.
   */
  untilEnded(adding: Promise<unknown>): Promise<void>;
}

export interface FollowOptions<Letter> {
  /** Called once for each job that ends. */
  onEnded: (letter: Letter, state: Exclude<FollowedState, 'pending'>) => void;
  /** Awaited after each look. Must not reject. */
  afterLook?: (() => Promise<void>) | undefined;
  signal: AbortSignal;
  /** How long jobs are followed after the last one was added, in milliseconds. Without it: until all have ended. */
  limitMs?: number | undefined;
  /** After so many looks in which the engine does not answer, the rest is no longer followed. Without it: never. */
  mostFailures?: number | undefined;
  /** For tests. */
  pause?: ((ms: number, signal: AbortSignal) => Promise<unknown>) | undefined;
  now?: (() => number) | undefined;
}

/** The pauses between two looks grow from the first to the second. */
const [FIRST_PAUSE_MS, LAST_PAUSE_MS] = [200, 2_000];
const GROWTH = 1.3;
/** So many jobs are asked for their state at a time. */
const AT_A_TIME = 10;

export function followJobs<Letter>({
  onEnded,
  afterLook,
  signal,
  limitMs = Number.POSITIVE_INFINITY,
  mostFailures = Number.POSITIVE_INFINITY,
  pause = (ms, signal) => sleep(ms, undefined, { signal }),
  now = () => performance.now(),
}: FollowOptions<Letter>): FollowedJobs<Letter> {
  const pending = new Map<Letter, { job: FollowedJob; problem?: string }>();

  async function untilEnded(adding: Promise<unknown>): Promise<void> {
    let isAdding = true;
    let endsAt = Number.POSITIVE_INFINITY;
    const added = adding
      .catch(() => {})
      .then(() => {
        isAdding = false;
        endsAt = now() + limitMs;
      });
    const ended = new AbortController();
    const stop = AbortSignal.any([signal, ended.signal]);
    let failures = 0;
    for (let ms = FIRST_PAUSE_MS; isAdding || pending.size > 0; ms = Math.min(GROWTH * ms, LAST_PAUSE_MS)) {
      const paused = pause(Math.max(0, Math.min(ms, endsAt - now())), stop).catch(() => {});
      await (isAdding ? Promise.race([paused, added]) : paused);
      if (signal.aborted) break;
      const isLast = now() >= endsAt;
      failures = (await look()) ? 0 : failures + 1;
      if (isLast || failures === mostFailures) break;
    }
    ended.abort();
    await added;
    await Promise.all([...pending.values()].map(({ job }) => job.close().catch(() => {})));
  }

  /** Resolves to whether the engine answers. */
  async function look(): Promise<boolean> {
    const all = [...pending];
    let answers = 0;
    for (let from = 0; from < all.length && !signal.aborted; from += AT_A_TIME) {
      const part = all.slice(from, from + AT_A_TIME);
      const found = await Promise.all(part.map(([letter, { job }]) => lookAt(letter, job)));
      const answered = found.filter(Boolean).length;
      answers += answered;
      if (answered === 0) break; // the engine is away: the others would wait for it too
    }
    await afterLook?.();
    return answers > 0 || all.length === 0;
  }

  async function lookAt(letter: Letter, job: FollowedJob): Promise<boolean> {
    let state: FollowedState;
    try {
      state = await job.state();
    } catch (error) {
      pending.delete(letter); // it becomes the last one, so that it does not keep the next look from the others
      pending.set(letter, { job, problem: reasonOf(error) });
      return false;
    }
    if (state === 'pending') {
      pending.set(letter, { job });
      return true;
    }
    pending.delete(letter);
    onEnded(letter, state);
    await job.close().catch(() => {});
    return true;
  }

  return { add: (letter, job) => void pending.set(letter, { job }), pending, untilEnded };
}
