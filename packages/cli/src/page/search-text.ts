import type { DeliveryRow } from './page-source.js';

// The page searches its rows, and its server the bodies: both find the same words in a row.

/** Returns the words of a query, in lower case. A delivery is found where it has all of them. */
export function wordsOf(query: string): readonly string[] {
  return query.toLowerCase().match(/\S+/g) ?? [];
}

/** Returns the searched text of a row in lower case, without the address of the endpoint, which may change. */
export function rowText(row: DeliveryRow): string {
  const { id, eventId, type, endpointId, status, problem, test, duplicates, url, verdict, cause, state } = row;
  const marks = [test && 'test', duplicates > 0 && 'duplicate'].filter(Boolean);
  const parts = [type, eventId, id, endpointId, status, problem, state, ...marks, url, verdict, cause];
  return parts.join('\n').toLowerCase();
}
