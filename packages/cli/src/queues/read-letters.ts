import { letterPages } from './letter-selection.js';
import { type ListedLetter, listedLetter } from './listed-letter.js';
import type { OpenedQueue } from './queue-engine.js';

/** So many letters are read; of an engine that gives its letters out from the first one on, fewer. */
const [MOST_LETTERS, MOST_WITHOUT_PAGES] = [10_000, 1_000];
/** So much is read of bodies. */
const MAX_READ_BYTES = 256 * 1024 * 1024;

/** Reads the dead letters of a queue up to a number and a size, the oldest first, each with its place. */
export async function* readLetters(opened: OpenedQueue, signal: AbortSignal): AsyncGenerator<[number, ListedLetter]> {
  const { queue, hasNoPages } = opened;
  const most = mostLetters(opened);
  let bytes = 0;
  let offset = 0;
  for await (const stored of letterPages((page) => queue.deadLetters(page), { hasNoPages, most })) {
    signal.throwIfAborted();
    const letter = listedLetter(stored, opened);
    bytes += letter.bytes ?? 0;
    if (bytes > MAX_READ_BYTES) return;
    yield [offset, letter];
    offset += 1;
  }
}

export function mostLetters({ hasNoPages }: Pick<OpenedQueue, 'hasNoPages'>): number {
  return hasNoPages ? MOST_WITHOUT_PAGES : MOST_LETTERS;
}
