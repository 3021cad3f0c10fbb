import type { Piece } from '../../output.js';
import { type ListedLetter, typeWords } from '../../queues/listed-letter.js';

/** What is kept of a letter that will be changed: no body, so that any number of letters may be chosen. */
export type ChosenLetter = Pick<ListedLetter, 'id' | 'type' | 'eventId' | 'tenant' | 'key' | 'notShown'>;

/** Chooses up to a number of letters. */
export async function chooseLetters(
  letters: AsyncIterable<ListedLetter> | Iterable<ListedLetter>,
  limit: number,
): Promise<{ chosen: ChosenLetter[]; hasMore: boolean }> {
  const chosen: ChosenLetter[] = [];
  for await (const { id, type, eventId, tenant, key, notShown } of letters) {
    if (chosen.length === limit) return { chosen, hasMore: true };
    chosen.push({ id, type, eventId, tenant, key, notShown });
  }
  return { chosen, hasMore: false };
}

/** A chosen letter as parts of a line. */
export function letterWords(letter: ChosenLetter, shortOf: (id: string) => string): Piece[] {
  const { id, eventId, tenant } = letter;
  return [['strong', shortOf(id)], typeWords(letter), eventId, tenant !== undefined && `of ${tenant}`];
}
