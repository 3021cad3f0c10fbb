import type { ActionName, Change, DeliveryRow, DeliveryState, Overview, Snapshot, Start } from '../page-source.js';

export interface State {
  /** Empty until it is known. */
  title: string;
  start: Start | undefined;
  /** The actions of this source. */
  offers: readonly ActionName[];
  overview: Overview;
  /** When `overview` arrived, by the clock of the browser. */
  overviewAt: number;
  connection: 'opening' | 'open' | 'lost';
  /** The number of deliveries; those that match the filter are `visible`, the newest first. */
  total: number;
  visible: readonly DeliveryRow[];
  /** How many are dead. */
  dead: number;
  query: string;
  only: DeliveryState | 'all';
  /** A type of events; empty for all. */
  type: string;
  /** Only deliveries of the last so many milliseconds; 0 for all. */
  since: number;
  selected: string | undefined;
  /** The attempt of the selected delivery that is shown; the newest if undefined. */
  attempt: string | undefined;
  /** The result of the last action. */
  message: { text: string; failed: boolean } | undefined;
}

export type Filter = Pick<State, 'query' | 'only' | 'type' | 'since'>;

export const NO_FILTER: Filter = { query: '', only: 'all', type: '', since: 0 };

let state: State = {
  title: '',
  start: undefined,
  offers: [],
  overview: { now: Date.now(), speed: 1, endpoints: [], failing: 0 },
  overviewAt: Date.now(),
  connection: 'opening',
  total: 0,
  visible: [],
  dead: 0,
  ...NO_FILTER,
  selected: undefined,
  attempt: undefined,
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

/** Calls back when something has changed. Returns a function that ends it. */
export function subscribe(changed: () => void): () => void {
  listeners.add(changed);
  return () => void listeners.delete(changed);
}

export function rowOf(id: string | undefined): DeliveryRow | undefined {
  return id === undefined ? undefined : rows.get(id);
}

export function applySnapshot({
  overview,
  deliveries,
  ...about
}: Snapshot & Pick<State, 'title' | 'start' | 'offers'>): void {
  rows = new Map(deliveries.map((row) => [row.id, row]));
  takeIn(overview);
  set({ title: about.title, start: about.start, offers: about.offers, connection: 'open', ...seen() });
}

export function applyChange({ overview, deliveries, removed }: Change): void {
  for (const row of deliveries) rows.set(row.id, row);
  for (const id of removed) rows.delete(id);
  takeIn(overview);
  const isOther = deliveries.length + removed.length > 0 || state.since > 0;
  set(isOther ? seen() : {});
}

/** Called before `seen`, which reads the addresses of the endpoints. */
function takeIn(overview: Overview): void {
  state = { ...state, overview, overviewAt: Date.now() };
}

export function setFilter(filter: Partial<Filter>): void {
  state = { ...state, ...filter };
  set(seen());
}

/** Looks again at what is recent: while time passes by itself, nothing else says that it has. */
export function passTime(): void {
  if (state.since === 0) return;
  const { visible, ...rest } = seen();
  const isSame = visible.length === state.visible.length && visible.every((row, at) => row === state.visible[at]);
  if (!isSame) set({ visible, ...rest });
}

/** The newest attempt is shown unless one is named. */
export function select(id: string | undefined, attempt?: string): void {
  if (id !== state.selected || attempt !== state.attempt) set({ selected: id, attempt });
}

/** The delivery that is so many places further down the list, as far as it goes. */
export function step(by: number): void {
  const { visible, selected } = state;
  const from = selected === undefined ? -1 : visible.findIndex(({ id }) => id === selected);
  const to = Math.min(visible.length - 1, Math.max(0, from + by));
  select(visible[to]?.id);
}

/** What an address leads to. */
export function goTo(place: Filter & Pick<State, 'selected' | 'attempt'>): void {
  state = { ...state, ...place };
  set(seen());
}

export function setConnection(connection: State['connection']): void {
  if (connection !== state.connection) set({ connection });
}

export function say(text: string, failed = false): void {
  set({ message: { text, failed } });
}

/** Returns the time by the clock of the source. */
export function now(): number {
  const { overview, overviewAt } = state;
  return overview.speed === 0 ? overview.now : overview.now + Date.now() - overviewAt;
}

function seen(): Pick<State, 'total' | 'visible' | 'dead'> {
  const words = state.query.toLowerCase().match(/\S+/g) ?? [];
  const urls = new Map(state.overview.endpoints.map(({ id, url }) => [id, url.toLowerCase()]));
  const { only, type, since } = state;
  const oldest = since === 0 ? Number.NEGATIVE_INFINITY : now() - since;
  const visible: DeliveryRow[] = [];
  let dead = 0;
  for (const row of rows.values()) {
    if (row.state === 'dead') dead += 1;
    if (only !== 'all' && row.state !== only) continue;
    if ((type !== '' && row.type !== type) || row.createdAt < oldest) continue;
    const has = (word: string) => textOf(row).includes(word) || urls.get(row.endpointId)?.includes(word);
    if (words.every(has)) visible.push(row);
  }
  return { total: rows.size, dead, visible: visible.reverse() };
}

const texts = new WeakMap<DeliveryRow, string>();

/**
 * Returns the searched text, without the address of the endpoint, which may change. A row that changes is another
 * object.
 */
function textOf(row: DeliveryRow): string {
  const made = texts.get(row);
  if (made !== undefined) return made;
  const { id, eventId, type, endpointId, status, problem, test, duplicates, url, verdict, cause } = row;
  const marks = [test && 'test', duplicates > 0 && 'duplicate'].filter(Boolean);
  const parts = [type, eventId, id, endpointId, status, problem, row.state, ...marks, url, verdict, cause];
  const text = parts.join('\n').toLowerCase();
  texts.set(row, text);
  return text;
}
