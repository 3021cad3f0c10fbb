import { reasonOf } from '../../failure.js';
import type { ChangeKind, Operation } from '../../page/queue-source.js';
import { followJobs } from '../follow-jobs.js';
import type { Pause } from '../within.js';
import type { KeptOpen } from './kept-open.js';
import type { IndexedLetter } from './letter-index.js';

/** A change of dead letters that runs until its results are known. */
export interface RunningOperation {
  /** All but the letters that are dead again, which the list has. */
  view(): Omit<Operation, 'deadAgain'>;
  /** Those that are dead again, as they were before, each with the time at which that was seen. */
  readonly deadAgain: readonly { letter: IndexedLetter; at: number }[];
  cancel(): void;
  /** Resolves when every letter is changed, or none is any more. Never rejects. */
  readonly changed: Promise<void>;
  /** Resolves when it has ended. Never rejects. */
  readonly ended: Promise<void>;
}

export interface OperationOptions {
  id: number;
  kind: ChangeKind;
  letters: readonly IndexedLetter[];
  queue: KeptOpen;
  /** Returns milliseconds since the epoch. */
  now: () => number;
  /** Between two looks at the jobs that are followed. For tests. */
  pause: Pause;
}

/** After so many looks without an answer, results are no longer awaited. */
const MOST_FAILURES = 10;

/** Begins to retry or discard dead letters, one after the other, and follows those that are retried. */
export function startOperation({ id, kind, letters, queue, now, pause }: OperationOptions): RunningOperation {
  const stop = new AbortController();
  const deadAgain: { letter: IndexedLetter; at: number }[] = [];
  const counts = { changed: 0, gone: 0, handled: 0 };
  const followed = followJobs<IndexedLetter>({
    onEnded(letter, state) {
      if (state === 'done') counts.handled += 1;
      else deadAgain.push({ letter, at: now() });
    },
    signal: stop.signal,
    mostFailures: MOST_FAILURES,
    pause,
  });
  let isFollowed = kind === 'retry';
  let phase: Operation['phase'] = 'changing';
  let isCancelled = false;
  let problem: string | undefined;

  async function changeAll(): Promise<void> {
    try {
      for (const letter of letters) {
        if (stop.signal.aborted) return;
        const isDone = await changeOne(letter);
        counts[isDone ? 'changed' : 'gone'] += 1;
      }
    } catch (error) {
      problem = reasonOf(error);
    }
  }

  const changeOne = (letter: IndexedLetter): Promise<boolean> =>
    queue.use(async ({ queue: letters }) => {
      if (kind === 'discard') return letters.discard(letter.id);
      isFollowed = letters.retryAndFollow !== undefined;
      if (letters.retryAndFollow === undefined) return letters.retry(letter.id);
      const job = await letters.retryAndFollow(letter.id);
      if (job !== undefined) followed.add(letter, job);
      return job !== undefined;
    });

  const changed = changeAll().then(() => {
    if (phase === 'changing') phase = 'following';
  });
  const ended = followed.untilEnded(changed).then(() => {
    phase = 'ended';
  });
  return {
    deadAgain,
    changed,
    ended,
    view: () => ({
      ...{ id, kind, phase, total: letters.length, ...counts, isFollowed, isCancelled },
      problem: problem ?? [...followed.pending.values()].find((one) => one.problem !== undefined)?.problem,
      waiting: followed.pending.size,
      dead: deadAgain.length,
    }),
    cancel() {
      isCancelled = phase !== 'ended';
      stop.abort();
    },
  };
}
