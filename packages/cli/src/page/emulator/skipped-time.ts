import { type Attempt, type Emulator, RETRY_WAITS_MS } from 'service-webhooks-emulator';

/**
 * The time that the page has skipped. The clock of an emulator that delivers to a real app stays that of the machine,
 * since the app verifies signatures by it; so what happens after a skip is shown that much later than it was.
 */
export interface SkippedTime {
  /** In all, in milliseconds. */
  readonly ms: number;
  /** How much had been skipped before this attempt. */
  before(attempt: Attempt): number;
  /** Lets `ms` of the schedule pass at once. @throws WebhookError (as a rejection) `invalid_option` */
  advance(ms: number): Promise<void>;
}

/** Shorter than every wait, so that what a step makes due was waiting before it, and its time is known. */
const STEP_MS = Math.min(...RETRY_WAITS_MS) - 1;

/** `speed`: that of the schedule of a real clock; 0 for a virtual one, whose time is the emulator's own. */
export function createSkippedTime(emulator: Emulator, speed: number): SkippedTime {
  let ms = 0;
  const skippedBefore = new WeakMap<Attempt, number>();
  let seen = 0;

  /** Notes of each attempt since the last look how much had been skipped before it. */
  function look(dueAt: ReadonlyMap<string, number>, skipped: number): void {
    for (const attempt of attemptsAfter(emulator, seen)) {
      seen = attempt.seq;
      const due = dueAt.get(attempt.deliveryId);
      skippedBefore.set(attempt, due === undefined ? skipped : Math.max(skipped, due - attempt.at));
    }
  }

  /** When each delivery is due, as the page shows it, and how much of the schedule is left until the first. */
  function schedule() {
    const waiting = emulator.deliveries.list({ state: 'waiting' });
    const dueAt = new Map(waiting.map(({ id, nextAt = 0 }) => [id, nextAt + ms]));
    const first = Math.min(...waiting.map(({ nextAt = Number.POSITIVE_INFINITY }) => nextAt));
    return { dueAt, untilFirst: Math.max(0, first - emulator.now()) * speed };
  }

  return {
    get ms() {
      return ms;
    },
    before(attempt) {
      if (attempt.seq > seen) look(new Map(), ms);
      const known = skippedBefore.get(attempt) ?? ms;
      skippedBefore.set(attempt, known);
      return known;
    },
    async advance(total) {
      if (speed === 0 || !(total > 0)) return emulator.advance(total);
      await emulator.settled();
      look(new Map(), ms);
      for (let left = total; left > 0; ) {
        const { dueAt, untilFirst } = schedule();
        const step = Math.min(left, untilFirst + STEP_MS);
        await emulator.advance(step);
        const before = ms;
        ms += step / speed;
        left -= step;
        look(dueAt, before);
      }
    },
  };
}

/** The attempts with a later `seq`, the oldest first. */
export function attemptsAfter(emulator: Emulator, seq: number): readonly Attempt[] {
  const attempts = emulator.attempts.list();
  return attempts.slice(attempts.findLastIndex((attempt) => attempt.seq <= seq) + 1);
}
