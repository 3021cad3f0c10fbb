import type { ActionName, Change, DeliveryRow, DeliveryState, Overview, Snapshot } from '../page-source.js';

export interface State {
  /** Empty until it is known. */
  title: string;
  /** What this source can do. */
  offers: readonly ActionName[];
  overview: Overview;
  /** When `overview` came, by the clock of the browser. */
  overviewAt: number;
  connection: 'opening' | 'open' | 'lost';
  /** How many deliveries there are; those in sight of the filter are `visible`, the newest first. */
  total: number;
  visible: readonly DeliveryRow[];
  query: string;
  only: DeliveryState | 'all';
  selected: string | undefined;
  /** The outcome of what was done last, for eyes and ears. */
  message: { text: string; failed: boolean } | undefined;
}

let state: State = {
  title: '',
  offers: [],
  overview: { now: Date.now(), speed: 1, endpoints: [], failing: 0 },
  overviewAt: Date.now(),
  connection: 'opening',
  total: 0,
  visible: [],
  query: '',
  only: 'all',
  selected: undefined,
  message: undefined,
};
/** All deliveries, the oldest first. */
let rows = new Map<string, DeliveryRow>();
const listeners = new Set<() => void>();

function set(changes: Partial<State>): void {
  state = { ...state, ...changes };
  for (const listener of listeners) listener();
}

export function current(): State {
  return state;
}

/** Calls back when something has changed. Gives a function that ends it. */
export function subscribe(changed: () => void): () => void {
  listeners.add(changed);
  return () => void listeners.delete(changed);
}

export function rowOf(id: string | undefined): DeliveryRow | undefined {
  return id === undefined ? undefined : rows.get(id);
}

export function applySnapshot({
  title,
  offers,
  overview,
  deliveries,
}: Snapshot & Pick<State, 'title' | 'offers'>): void {
  rows = new Map(deliveries.map((row) => [row.id, row]));
  takeIn(overview);
  set({ title, offers, connection: 'open', ...seen() });
}

export function applyChange({ overview, deliveries, removed }: Change): void {
  for (const row of deliveries) rows.set(row.id, row);
  for (const id of removed) rows.delete(id);
  takeIn(overview);
  set(deliveries.length + removed.length > 0 ? seen() : {});
}

/** Before `seen`, which looks at the addresses of the endpoints. */
function takeIn(overview: Overview): void {
  state = { ...state, overview, overviewAt: Date.now() };
}

export function setFilter(filter: Partial<Pick<State, 'query' | 'only'>>): void {
  state = { ...state, ...filter };
  set(seen());
}

export function select(id: string | undefined): void {
  if (id !== state.selected) set({ selected: id });
}

export function setConnection(connection: State['connection']): void {
  if (connection !== state.connection) set({ connection });
}

export function say(text: string, failed = false): void {
  set({ message: { text, failed } });
}

/** The time by the clock of the source. */
export function now(): number {
  const { overview, overviewAt } = state;
  return overview.speed === 0 ? overview.now : overview.now + Date.now() - overviewAt;
}

function seen(): Pick<State, 'total' | 'visible'> {
  const words = state.query.toLowerCase().match(/\S+/g) ?? [];
  const urls = new Map(state.overview.endpoints.map(({ id, url }) => [id, url.toLowerCase()]));
  const { only } = state;
  const visible: DeliveryRow[] = [];
  for (const row of rows.values()) {
    if (only !== 'all' && row.state !== only) continue;
    const has = (word: string) => textOf(row).includes(word) || urls.get(row.endpointId)?.includes(word);
    if (words.every(has)) visible.push(row);
  }
  return { total: rows.size, visible: visible.reverse() };
}

const texts = new WeakMap<DeliveryRow, string>();

/** What is searched in, beside the address of the endpoint, which may change. A row that changes is another object. */
function textOf(row: DeliveryRow): string {
  const made = texts.get(row);
  if (made !== undefined) return made;
  const { id, eventId, type, endpointId, status, problem, test } = row;
  const parts = [type, eventId, id, endpointId, status, problem, row.state, test ? 'test' : ''];
  const text = parts.join('\n').toLowerCase();
  texts.set(row, text);
  return text;
}
