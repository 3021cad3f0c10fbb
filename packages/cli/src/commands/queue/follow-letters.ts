import type { FollowedJob } from 'service-webhooks/queue';
import type { Piece } from '../../output.js';
import { type FollowOptions, followJobs } from '../../queues/follow-jobs.js';
import { filteredLetters } from '../../queues/letter-selection.js';
import type { OpenedQueue } from '../../queues/queue-engine.js';
import { realPause, within } from '../../queues/within.js';
import type { Session } from '../../session.js';
import { type ChosenLetter, letterWords } from './chosen-letters.js';

/** Reports how retried dead letters end. */
export interface LetterFollower {
  add(letter: ChosenLetter, job: FollowedJob): void;
  /**
   * Reports those that end until `retrying` has settled and all have ended, or the time after that is over; then reports
   * the others, and resolves to the number of each.
   */
  untilEnded(retrying: Promise<unknown>): Promise<LetterEnds>;
}

/** How many retried dead letters ended in which way. */
export interface LetterEnds {
  handled: number;
  deadAgain: number;
  pending: number;
  /** Whether the queue says of one that it waits or runs. */
  isWaiting: boolean;
}

export interface LetterFollowOptions extends Pick<FollowOptions<ChosenLetter>, 'limitMs' | 'signal' | 'pause'> {
  shortOf: (id: string) => string;
}

interface Explanation {
  reason?: string | undefined;
  problem?: string | undefined;
}

/** The new reasons are in the list of the dead letters. Between two readings of it are so many times as long as one takes. */
const READING_SHARE = 5;
/** Reasons that a reading has not found by then are left out. */
const READING_MS = 10_000;

export function followLetters(
  session: Session,
  opened: OpenedQueue,
  { shortOf, ...options }: LetterFollowOptions,
): LetterFollower {
  const { out } = session;
  const counts = { handled: 0, deadAgain: 0 };
  let dead: ChosenLetter[] = [];
  let readAgainAt = Number.NEGATIVE_INFINITY;
  const { signal, pause = realPause } = options;
  const followed = followJobs<ChosenLetter>({
    ...options,
    onEnded(letter, state) {
      counts[state === 'dead' ? 'deadAgain' : 'handled'] += 1;
      if (state === 'dead') dead.push(letter);
      else report('handled', letter, ['good', 'handled']);
    },
    afterLook: async () => {
      if (performance.now() >= readAgainAt) await reportDead();
    },
  });

  function report(kind: string, letter: ChosenLetter, word: Piece, more: Explanation = {}) {
    const { id, type, eventId, tenant } = letter;
    const says = more.reason ?? more.problem;
    const line = [word, ...letterWords(letter, shortOf), says !== undefined && (['bad', says] as const)];
    out.record({ kind, id, type, eventId, tenant, ...more }, line);
  }

  async function reportDead(): Promise<void> {
    if (dead.length === 0) return;
    const begunAt = performance.now();
    const letters = dead;
    dead = [];
    const reasons = await reasonsOf(letters);
    for (const letter of letters)
      report('dead_again', letter, ['bad', 'dead again'], { reason: reasons.get(letter.key) });
    const tookMs = performance.now() - begunAt;
    readAgainAt = performance.now() + READING_SHARE * tookMs;
  }

  /** Returns why letters are dead again, by their keys; without those that could not be read. */
  async function reasonsOf(letters: readonly ChosenLetter[]): Promise<Map<string | undefined, string | undefined>> {
    const keys = new Set(letters.map(({ key }) => key));
    const reasons = new Map<string | undefined, string | undefined>();
    let isOver = false;
    const read = async () => {
      // The last letter of a key is its latest.
      for await (const { key, reason } of filteredLetters(session, opened, {})) {
        if (isOver) return;
        if (keys.has(key)) reasons.set(key, reason);
      }
    };
    // That the letters are dead again is known without their reasons too, and `queue list` has those.
    await within(READING_MS, read(), (ms, over) => pause(ms, AbortSignal.any([signal, over]))).catch(() => {});
    isOver = true;
    return reasons;
  }

  return {
    add: followed.add,

    async untilEnded(retrying) {
      await followed.untilEnded(retrying);
      if (!signal.aborted) await reportDead();
      signal.throwIfAborted();
      for (const [letter, { problem }] of followed.pending)
        report('pending', letter, ['warn', problem === undefined ? 'waits or runs' : 'no answer'], { problem });
      const pending = [...followed.pending.values()];
      const isWaiting = pending.some(({ problem }) => problem === undefined);
      return { ...counts, pending: pending.length, isWaiting };
    },
  };
}
