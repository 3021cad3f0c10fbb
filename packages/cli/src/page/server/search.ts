import { setImmediate } from 'node:timers/promises';
import { MAX_SHOWN_BYTES } from '../attempt-details.js';
import type { AttemptText, PageSource } from '../page-source.js';
import { rowText, wordsOf } from '../search-text.js';

/** After this time other requests have their turn. */
const SLICE_MS = 20;

/**
 * Resolves to the ids of the deliveries that have every word of a query: in their row, or in a request or an answer of any
 * attempt. Of a body it reads what the page shows. An aborted search finds nothing.
 */
export async function search(source: PageSource, query: string, signal: AbortSignal): Promise<string[]> {
  const missing = missingWords(source, wordsOf(query));
  let since = performance.now();
  for (const { delivery, text } of source.attemptTexts()) {
    const words = missing.get(delivery);
    if (words === undefined || words.size === 0) continue;
    const searched = lowerCase(text);
    for (const word of words) if (searched.includes(word)) words.delete(word);
    if (performance.now() - since < SLICE_MS) continue;
    await setImmediate();
    if (signal.aborted) return [];
    since = performance.now();
  }
  return [...missing].filter(([, words]) => words.size === 0).map(([id]) => id);
}

/** Returns the words of each delivery that its row does not have. */
function missingWords(source: PageSource, words: readonly string[]): Map<string, Set<string>> {
  const { overview, deliveries } = source.snapshot();
  const urls = new Map(overview.endpoints.map(({ id, url }) => [id, url.toLowerCase()]));
  return new Map(
    deliveries.map((row) => {
      const text = `${rowText(row)}\n${urls.get(row.endpointId) ?? ''}`;
      return [row.id, new Set(words.filter((word) => !text.includes(word)))];
    }),
  );
}

function lowerCase(text: AttemptText['text']): string {
  if (typeof text === 'string') return text.slice(0, MAX_SHOWN_BYTES).toLowerCase();
  return Buffer.from(text.buffer, text.byteOffset, Math.min(text.byteLength, MAX_SHOWN_BYTES)).toString().toLowerCase();
}
