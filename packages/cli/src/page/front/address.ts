import { NO_FILTER, type State } from './state.js';

/** What of the state is in the address of the page, so that a link leads to it. */
export type Place = Pick<State, 'selected' | 'attempt' | 'compared' | 'query' | 'only' | 'type' | 'since'>;

const STATES: readonly string[] = ['sending', 'waiting', 'delivered', 'failed', 'dead', 'lost', 'has-failed'];

/** Behind `#`, which the browser does not send: the guard lets links from elsewhere lead to `/` alone. */
export function toHash({ selected, attempt, compared, query, only, type, since }: Place): string {
  const fields = {
    delivery: selected,
    attempt: selected && attempt,
    with: selected && attempt && compared,
    q: query,
    state: only === 'all' ? '' : only,
    type,
    since: since === 0 ? '' : String(since / MINUTE),
  };
  const given = Object.entries(fields).filter((field): field is [string, string] => !!field[1]);
  return given.length === 0 ? '' : `#${new URLSearchParams(given)}`;
}

/** Anything else that stands there is left out. */
export function fromHash(hash: string): Place {
  const fields = new URLSearchParams(hash.replace(/^#/, ''));
  const state = fields.get('state') ?? '';
  const minutes = Number(fields.get('since'));
  return {
    selected: fields.get('delivery') || undefined,
    attempt: fields.get('attempt') || undefined,
    compared: fields.get('with') || undefined,
    query: fields.get('q') ?? '',
    only: STATES.includes(state) ? (state as State['only']) : NO_FILTER.only,
    type: fields.get('type') ?? '',
    since: Number.isSafeInteger(minutes) && minutes > 0 ? minutes * MINUTE : 0,
  };
}

const MINUTE = 60_000;
