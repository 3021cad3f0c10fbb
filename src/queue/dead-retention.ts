import { durationMs } from '../duration.js';
import { stopwatch } from '../timers.js';
import type { DeadLetters } from './dead-letters.js';

/** How long the dead letters of a queue are kept. */
export interface DeadRetentionOptions {
  /**
   * How long a dead letter is kept after its last failure: milliseconds, or `'90s'`, `'30m'`, `'2h'`, `'30d'`, up to 366 days.
   * Older ones are discarded, at most once a minute after a put, and by `purgeDead()`. Default: until they are discarded.
   */
  retainDead?: number | string | undefined;
}

/** Discards dead letters that are too old. */
export interface DeadRetention {
  /** Discards some in the background, unless it has done so within the last minute. Never throws. */
  look(): void;
  /** Discards all, and resolves to how many there were. */
  purge(): Promise<number>;
}

const LOOK_INTERVAL_MS = 60_000;
const PAGE = 100;

/** @throws WebhookError `invalid_option` */
export function deadRetention(
  { retainDead }: DeadRetentionOptions,
  queue: () => Pick<DeadLetters, 'deadLetters' | 'discard'>,
  now: () => number = Date.now,
): DeadRetention {
  const retainMs = retainDead === undefined ? undefined : durationMs('retainDead', retainDead);
  let sinceLook: (() => number) | undefined;

  /** Resolves to how many of the oldest letters were discarded. */
  async function discardPage(): Promise<number> {
    if (retainMs === undefined) return 0;
    const { deadLetters, discard } = queue();
    const before = now() - retainMs;
    let discarded = 0;
    for (const { id, diedAt = before } of await deadLetters({ limit: PAGE })) {
      if (diedAt < before && (await discard(id))) discarded += 1;
    }
    return discarded;
  }

  return {
    look() {
      if (retainMs === undefined || (sinceLook && sinceLook() < LOOK_INTERVAL_MS)) return;
      sinceLook = stopwatch();
      discardPage().catch(() => {}); // the next look tries again
    },

    async purge() {
      let discarded = 0;
      for (let page = await discardPage(); page > 0; page = await discardPage()) discarded += page;
      return discarded;
    },
  };
}
