import { durationMs } from '../duration.js';
import { stopwatch } from '../timers.js';
import type { DeadLetter } from './dead-letters.js';

/** How long the dead letters of a queue are kept. */
export interface DeadRetentionOptions {
  /**
   * How long a dead letter is kept after its last failure: milliseconds, or `'90s'`, `'30m'`, `'2h'`, `'30d'`, up to 366 days.
   * Older ones are discarded, up to 100 a minute, after a put and by workers, and all of them by `purgeDead()`. Default: until they are discarded.
   */
  retainDead?: number | string | undefined;
}

/** Discards dead letters that are too old. */
export interface DeadRetention {
  /** Discards some in the background, unless it has done so within the last minute. Never throws; `report` gets an error. */
  discardOld(report?: (operation: string, problem: string, error: unknown) => void): void;
  /** Discards all, and resolves to how many there were. Rejects after that with the error of one that could not be discarded. */
  purge(): Promise<number>;
}

/** What is used of a queue: its dead letters, whose bodies need not be opened. */
export interface DeadOf {
  list(page: { limit: number; offset: number }): Promise<readonly Pick<DeadLetter, 'id' | 'diedAt'>[]>;
  discard(id: string): Promise<boolean>;
}

/** How often old ones are discarded: by a worker, and at most after puts. */
export const DISCARD_INTERVAL_MS = 60_000;
const PAGE = 100;
const NOT_DISCARDED = 'Dead letters that are older than retainDead could not be discarded';

/** @throws WebhookError `invalid_option` */
export function deadRetention(
  { retainDead }: DeadRetentionOptions,
  { list, discard }: DeadOf,
  now: () => number = Date.now,
): DeadRetention {
  const retainMs = retainDead === undefined ? undefined : durationMs('retainDead', retainDead);
  let sinceDiscarding: (() => number) | undefined;
  let isDiscarding = false;

  /** Discards up to `most` of the letters that died before a time. One that cannot be discarded does not keep the others. */
  async function discardBefore(time: number, most: number): Promise<number> {
    let [discarded, kept] = [0, 0];
    let failure: { error: unknown } | undefined;
    for (;;) {
      const letters = await list({ limit: Math.min(PAGE, most - discarded), offset: kept });
      for (const { id, diedAt = time } of letters) {
        const isDiscarded =
          diedAt < time &&
          (await discard(id).catch((error) => {
            failure = { error };
            return false;
          }));
        if (isDiscarded) discarded += 1;
        else kept += 1;
      }
      const isOver = letters.length === 0 || discarded >= most || (letters.at(-1)?.diedAt ?? 0) >= time;
      if (isOver && failure) throw failure.error;
      if (isOver) return discarded;
    }
  }

  return {
    discardOld(report) {
      if (retainMs === undefined || isDiscarding || (sinceDiscarding && sinceDiscarding() < DISCARD_INTERVAL_MS))
        return;
      sinceDiscarding = stopwatch();
      isDiscarding = true;
      discardBefore(now() - retainMs, PAGE)
        .catch((error) => report?.('retain', NOT_DISCARDED, error))
        .finally(() => {
          isDiscarding = false;
        });
    },

    purge: async () => (retainMs === undefined ? 0 : discardBefore(now() - retainMs, Number.POSITIVE_INFINITY)),
  };
}
