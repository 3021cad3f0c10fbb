import type { Change, DeliveryRow, Overview, Snapshot } from '../page-source.js';
import { matching } from './matching.js';
import { type Filter, NO_FILTER, type State } from './state.js';

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
  arrivals: 0,
  revision: 0,
  ...NO_FILTER,
  found: undefined,
  selected: undefined,
  attempt: undefined,
  compared: undefined,
  message: undefined,
};
/** All deliveries, the oldest first. */
let rows = new Map<string, DeliveryRow>();
/** When the deliveries came that are still new, by the clock of the browser. */
const arrivedAt = new Map<string, number>();
const listeners = new Set<() => void>();

/** As long as the style sheet marks a new delivery. */
const NEW_MS = 2_000;

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

/** Whether a delivery has come just now. */
export function isNew(id: string): boolean {
  return Date.now() - (arrivedAt.get(id) ?? 0) < NEW_MS;
}

export function applySnapshot({
  overview,
  deliveries,
  ...about
}: Snapshot & Pick<State, 'title' | 'start' | 'offers'>): void {
  rows = new Map(deliveries.map((row) => [row.id, row]));
  takeIn(overview);
  const revision = state.revision + 1;
  set({ title: about.title, start: about.start, offers: about.offers, connection: 'open', revision, ...seen() });
}

export function applyChange({ overview, deliveries, removed }: Change): void {
  const arrived = deliveries.filter(({ id }) => !rows.has(id));
  note(arrived);
  for (const row of deliveries) rows.set(row.id, row);
  for (const id of removed) rows.delete(id);
  takeIn(overview);
  const isChanged = deliveries.length + removed.length > 0;
  const counts = {
    arrivals: state.arrivals + arrived.length,
    revision: state.revision + Number(isChanged),
  };
  set(isChanged || state.since > 0 ? { ...counts, ...seen() } : {});
}

/** Remembers when these came, and forgets those that are no longer new. */
function note(arrived: readonly DeliveryRow[]): void {
  for (const id of arrivedAt.keys()) if (!isNew(id)) arrivedAt.delete(id);
  for (const { id } of arrived) arrivedAt.set(id, Date.now());
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

/** Takes in what the server has found for a query. The result of an earlier query is dropped. */
export function setFound(query: string, ids: readonly string[]): void {
  if (query !== state.query.trim()) return;
  state = { ...state, found: { query, ids: new Set(ids) } };
  set(seen());
}

/** The newest attempt is shown unless one is named. */
export function select(id: string | undefined, attempt?: string): void {
  if (id === state.selected && attempt === state.attempt && state.compared === undefined) return;
  set({ selected: id, attempt, compared: undefined });
}

/** Compares an attempt of the selected delivery with another one; undefined ends it. */
export function compare(attempt: string, compared: string | undefined): void {
  set({ attempt, compared });
}

/** The delivery that is so many places further down the list, as far as it goes. */
export function step(by: number): void {
  const { visible, selected } = state;
  const from = selected === undefined ? -1 : visible.findIndex(({ id }) => id === selected);
  const to = Math.min(visible.length - 1, Math.max(0, from + by));
  select(visible[to]?.id);
}

/** What an address leads to. */
export function goTo(place: Filter & Pick<State, 'selected' | 'attempt' | 'compared'>): void {
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
  let dead = 0;
  for (const row of rows.values()) if (row.state === 'dead') dead += 1;
  return { total: rows.size, dead, visible: matching(rows.values(), state, now()) };
}
