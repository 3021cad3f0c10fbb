import { durationOf } from '../../duration.js';
import { reasonOf } from '../../failure.js';
import type { QueueState } from '../../page/queue-source.js';
import type { OpenedQueue } from '../queue-engine.js';
import { type Pause, within } from '../within.js';
import type { KeptOpen } from './kept-open.js';
import { EMPTY_INDEX, isSameList, type LetterIndex, readIndex } from './letter-index.js';

/** What was last read of a queue: its numbers and its dead letters. Pages ask often, and the engine is asked less often. */
export interface QueueReadings {
  /** Notes that a page asks, and resolves once there is something to show. */
  asked(): Promise<void>;
  /** Lists the letters again at the next reading, since they are others now. */
  want(): void;
  /** Reads again now. */
  refresh(): void;
  /** Ends a listing. */
  close(): void;
  readonly name: string | undefined;
  readonly stats: QueueState['stats'];
  /** Why nothing is known of the engine now. */
  readonly problem: string | undefined;
  readonly index: LetterIndex;
  /** `version` grows with each listing that found other letters. `begunAt` and `at` are the times of the last one. */
  readonly listing: { readonly version: number; isReading: boolean; begunAt: number; at: number | undefined };
}

interface ReadingsOptions {
  queue: KeptOpen;
  where: string;
  /** The name of the queue, where it is open already. */
  name: string | undefined;
  now: () => number;
  pause: Pause;
  nextHandle: () => number;
  /** Whether letters are changed now. They are not listed meanwhile. */
  isChanging: () => boolean;
  /** Whether jobs are followed, whose answers come on the connection that is open. */
  isFollowing: () => boolean;
}

/** The numbers are read at most so often. */
const STATS_MS = 1_500;
/** An engine that is silent for so long during a reading has a problem, also where the call has not failed yet. */
const SILENT_MS = 5_000;
/** Letters that are listed are listed again after so long, since others may have taken their places. */
const OLD_MS = 30_000;
/** Without a page for so long, the letters are listed again for the next one. */
const AWAY_MS = 5_000;
/** A listing waits so many times as long as the last one took, so that it does not keep the engine busy. */
const LISTING_SHARE = 5;
/** Where a listing takes the letters out of the queue for a moment, it waits at least so long. */
const PAUSE_WITHOUT_PAGES_MS = 10_000;

export function queueReadings(options: ReadingsOptions): QueueReadings {
  const { queue, where, now, pause, nextHandle, isChanging, isFollowing } = options;
  const stop = new AbortController();
  let { name } = options;
  let stats: QueueState['stats'];
  let statsAt = Number.NEGATIVE_INFINITY;
  let problem: string | undefined;
  let reading: Promise<void> | undefined;
  /** When the engine last answered during a reading, or the reading began. */
  let heardAt = Number.NEGATIVE_INFINITY;
  let askedAt = now();
  let index = EMPTY_INDEX;
  const listing = { version: 0, isReading: false, begunAt: 0, at: undefined as number | undefined };
  /** The number of dead letters at the last listing; undefined where they may be others by now. */
  let listedDead: number | undefined;
  let isWanted = true;

  function hear(): void {
    heardAt = now();
  }

  /** Reads the numbers, and the dead letters where they may be others. */
  async function read(): Promise<void> {
    hear();
    try {
      await queue.use(async (opened) => {
        hear();
        name = opened.queue.name;
        const { depth, oldestMs, dead } = await opened.queue.stats();
        hear();
        stats = { depth, oldestMs, dead };
        problem = undefined;
        if (isListingDue(opened, dead)) await list(opened, dead);
      });
    } catch (error) {
      problem = reasonOf(error);
      listing.isReading = false;
      if (!isFollowing()) await queue.close(); // the next reading opens it again
    }
    statsAt = now();
  }

  function isListingDue({ hasNoPages }: OpenedQueue, dead: number): boolean {
    if (isChanging()) return false;
    if (isWanted || listing.at === undefined) return true;
    const wait = Math.max(LISTING_SHARE * (listing.at - listing.begunAt), hasNoPages ? PAUSE_WITHOUT_PAGES_MS : 0);
    const isOther = dead !== listedDead || now() >= listing.at + OLD_MS;
    return isOther && now() >= listing.at + wait;
  }

  async function list(opened: OpenedQueue, dead: number): Promise<void> {
    const begunAt = now();
    const wasWanted = isWanted;
    isWanted = false;
    listing.isReading = true;
    try {
      const read = await readIndex(opened, index, { dead, nextHandle, onLetter: hear, signal: stop.signal });
      if (listing.version === 0 || !isSameList(index, read)) listing.version += 1;
      index = read;
    } catch (error) {
      isWanted ||= wasWanted;
      throw error;
    }
    listedDead = dead;
    Object.assign(listing, { begunAt, at: now(), isReading: false });
  }

  function readWhenDue(): void {
    const waitMs = isWanted && problem === undefined ? 0 : STATS_MS;
    if (reading === undefined && now() >= statsAt + waitMs) {
      reading = read().finally(() => {
        reading = undefined;
      });
    }
  }

  function problemNow(): string | undefined {
    const isSilent = reading !== undefined && now() >= heardAt + SILENT_MS;
    return problem ?? (isSilent ? `${where} has not answered for ${durationOf(SILENT_MS)} or longer.` : undefined);
  }

  return {
    listing,
    get name() {
      return name;
    },
    get stats() {
      return stats;
    },
    get problem() {
      return problemNow();
    },
    get index() {
      return index;
    },

    async asked() {
      // A page that was hidden or closed may have missed a change that left the number of letters as it was.
      if (now() >= askedAt + AWAY_MS) listedDead = undefined;
      askedAt = now();
      readWhenDue();
      if (stats === undefined && problemNow() === undefined && reading) await within(SILENT_MS, reading, pause);
    },

    want() {
      isWanted = true;
    },

    refresh() {
      isWanted = true;
      statsAt = Number.NEGATIVE_INFINITY;
      readWhenDue();
    },

    close: () => stop.abort(),
  };
}
