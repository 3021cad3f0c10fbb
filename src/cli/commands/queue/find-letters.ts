import { nearestName } from '../../../option-checks.js';
import { Failure } from '../../failure.js';
import { shortened } from '../../shortened.js';
import type { ListedLetter } from './listed-letter.js';

/** So many ids are compared with a misspelt one. */
const COMPARED = 1_000;

/**
 * Finds the dead letters with these ids, or of the events with these ids, in the order in which they are named.
 *
 * @throws Failure with the nearest id where there is none
 */
export async function findLetters(
  letters: AsyncIterable<ListedLetter>,
  words: readonly string[],
): Promise<ListedLetter[]> {
  const found = new Map<string, ListedLetter[]>();
  const ids: string[] = [];
  let count = 0;
  for await (const letter of letters) {
    count += 1;
    for (const id of [letter.id, letter.eventId]) {
      if (id === undefined) continue;
      if (ids.length < COMPARED) ids.push(id);
      if (words.includes(id)) found.set(id, [...(found.get(id) ?? []), letter]);
    }
    const hasAll = words.every((word) => found.get(word)?.some(({ id }) => id === word));
    if (hasAll) break; // an event may have several letters, an id has one
  }
  const missing = words.find((word) => !found.has(word));
  if (missing === undefined) return [...new Set(words.flatMap((word) => found.get(word) ?? []))];
  const nearest = nearestName(missing, ids);
  const advice = nearest === undefined ? "'service-webhooks queue list' shows them." : `Did you mean '${nearest}'?`;
  const problem = `'${shortened(missing)}' is none of the ${count} dead letters, nor the id of one's event.`;
  throw new Failure('usage', `${problem} ${advice}`);
}
