import type { DeliveryRow } from '../page-source.js';
import { rowText, wordsOf } from '../search-text.js';
import type { Filter, State } from './state.js';

/** Returns the deliveries that match the filter, the newest first. `rows`: the oldest first; `now`: by the clock of the source. */
export function matching(
  rows: Iterable<DeliveryRow>,
  { query, only, type, since, found, overview }: Filter & Pick<State, 'found' | 'overview'>,
  now: number,
): DeliveryRow[] {
  const words = wordsOf(query);
  const urls = new Map(overview.endpoints.map(({ id, url }) => [id, url.toLowerCase()]));
  const inBodies = found?.query === query.trim() ? found.ids : undefined;
  const oldest = since === 0 ? Number.NEGATIVE_INFINITY : now - since;
  const visible: DeliveryRow[] = [];
  for (const row of rows) {
    if (!isOfState(row, only) || (type !== '' && row.type !== type) || row.createdAt < oldest) continue;
    const has = (word: string) => textOf(row).includes(word) || urls.get(row.endpointId)?.includes(word);
    if (words.every(has) || inBodies?.has(row.id)) visible.push(row);
  }
  return visible.reverse();
}

function isOfState({ state, hasFailed }: DeliveryRow, only: Filter['only']): boolean {
  if (only === 'has-failed') return hasFailed;
  return only === 'all' || state === only;
}

const texts = new WeakMap<DeliveryRow, string>();

/** A row that changes is another object. */
function textOf(row: DeliveryRow): string {
  const text = texts.get(row) ?? rowText(row);
  texts.set(row, text);
  return text;
}
