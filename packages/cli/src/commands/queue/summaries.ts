import { filteredLetters, isMeant, type LetterFilter } from '../../queues/letter-selection.js';
import type { ListedLetter } from '../../queues/listed-letter.js';
import type { OpenedQueue } from '../../queues/queue-engine.js';
import { readLetters } from '../../queues/read-letters.js';
import type { Session } from '../../session.js';

/** A dead letter without its body and its stack, so that many of them can be held. */
export type Summary = Omit<ListedLetter, 'body' | 'delivery' | 'stack'>;

export interface Summaries {
  letters: Summary[];
  /** How many of the oldest dead letters were read, where the queue has more. */
  oldest?: number | undefined;
  /** Whether there are more letters of this choice than can be held. */
  hasMore?: boolean;
}

/** So many letters fit into memory without their bodies. */
export const MOST_HELD = 100_000;

/** Reads the dead letters that a filter lets through, up to a number that fits into memory. */
export async function readSummaries(session: Session, opened: OpenedQueue, filter: LetterFilter): Promise<Summaries> {
  if (opened.hasNoPages) return readOldest(session, opened, filter);
  const letters: Summary[] = [];
  for await (const letter of filteredLetters(session, opened, filter)) {
    if (letters.length === MOST_HELD) return { letters, hasMore: true };
    letters.push(summaryOf(letter));
  }
  return { letters };
}

/** Reads only the oldest dead letters: so many as do not keep the engine busy for long. */
export async function readOldest(
  { signal }: Session,
  opened: OpenedQueue,
  filter: LetterFilter = {},
): Promise<Summaries> {
  const letters: Summary[] = [];
  let count = 0;
  for await (const [, letter] of readLetters(opened, signal)) {
    count += 1;
    if (isMeant(letter, filter)) letters.push(summaryOf(letter));
  }
  const { dead } = await opened.queue.stats();
  return dead > count ? { letters, oldest: count } : { letters };
}

function summaryOf({ body: _, delivery: __, stack: ___, ...letter }: ListedLetter): Summary {
  return letter;
}
