import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ActionName, Change, DeliveryRow, DeliveryState, Overview, Snapshot } from '../page-source.js';

export interface State {
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
  title: document.title,
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

/** A part of the state; a component is drawn again only when it is another. */
export function useStore<Part>(select: (state: State) => Part): Part {
  const [, redraw] = useState({});
  const part = select(state);
  const current = useRef({ select, part });
  current.current = { select, part };
  useLayoutEffect(() => {
    const look = () => {
      const { select, part } = current.current;
      if (!Object.is(select(state), part)) redraw({});
    };
    look(); // what has changed since it was drawn
    listeners.add(look);
    return () => void listeners.delete(look);
  }, []);
  return part;
}

export function rowOf(id: string | undefined): DeliveryRow | undefined {
  return id === undefined ? undefined : rows.get(id);
}

export function applySnapshot(snapshot: Snapshot & Pick<State, 'title' | 'offers'>): void {
  rows = new Map(snapshot.deliveries.map((row) => [row.id, row]));
  const { title, offers, overview } = snapshot;
  set({ title, offers, overview, overviewAt: Date.now(), connection: 'open', ...seen() });
}

export function applyChange({ overview, deliveries, removed }: Change): void {
  for (const row of deliveries) rows.set(row.id, row);
  for (const id of removed) rows.delete(id);
  const changed = deliveries.length + removed.length > 0;
  set({ overview, overviewAt: Date.now(), ...(changed && seen()) });
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
  const words = state.query.toLowerCase().split(/\s+/).filter(Boolean);
  const { only } = state;
  const visible: DeliveryRow[] = [];
  for (const row of rows.values()) {
    if (only !== 'all' && row.state !== only) continue;
    if (words.length === 0 || words.every((word) => textOf(row).includes(word))) visible.push(row);
  }
  return { total: rows.size, visible: visible.reverse() };
}

const texts = new WeakMap<DeliveryRow, string>();

/** What is searched in. A row that changes is another object. */
function textOf(row: DeliveryRow): string {
  const known = texts.get(row);
  if (known !== undefined) return known;
  const { id, eventId, type, endpointId, status, problem, test } = row;
  const url = state.overview.endpoints.find((endpoint) => endpoint.id === endpointId)?.url;
  const parts = [type, eventId, id, endpointId, url, status, problem, row.state, test ? 'test' : ''];
  const text = parts.join('\n').toLowerCase();
  texts.set(row, text);
  return text;
}
