import type { JobPage, LetterChoice, LetterDetails, LetterPage, QueueState } from '../../queue-source.js';

export type Tab = 'dead' | 'waiting' | 'running';

/** Letters to change, and the digest of those that are shown; a letter alone has none. */
export interface ShownLetters {
  choice: LetterChoice & { all?: true };
  shown?: string;
}

/** The letters of a choice, or why there are none; after a failure also those that were read before. */
export interface ShownList {
  of: string;
  page: LetterPage | undefined;
  problem: string | undefined;
}

/** What the view of a queue shows. */
export interface QueueViewState {
  queue: QueueState | undefined;
  connection: 'opening' | 'open' | 'lost';
  tab: Tab;
  /** The group that is open. */
  group: string | undefined;
  text: string;
  /** Whether the text is also searched in the bodies. */
  bodies: boolean;
  /** The letters of the open group or of the search. */
  list: ShownList | undefined;
  /** How many letters of it are shown. */
  limit: number;
  jobs: { of: Tab; page: JobPage | undefined; problem: string | undefined } | undefined;
  selected: number | undefined;
  details: { handle: number; found: LetterDetails | undefined; problem: string | undefined } | undefined;
  /** What is to be discarded once the user has confirmed it. */
  asked: { letters: ShownLetters; title: string; count: number } | undefined;
  message: { text: string; failed: boolean } | undefined;
}

/** So many letters are shown at first, and with each "Show more". */
export const PAGE = 100;

let state: QueueViewState = {
  queue: undefined,
  connection: 'opening',
  tab: 'dead',
  group: undefined,
  text: '',
  bodies: false,
  list: undefined,
  limit: PAGE,
  jobs: undefined,
  selected: undefined,
  details: undefined,
  asked: undefined,
  message: undefined,
};
const listeners = new Set<() => void>();

export function current(): QueueViewState {
  return state;
}

export function set(changes: Partial<QueueViewState>): void {
  state = { ...state, ...changes };
  for (const listener of listeners) listener();
}

/** Calls back when something has changed. Returns a function that ends it. */
export function subscribe(changed: () => void): () => void {
  listeners.add(changed);
  return () => void listeners.delete(changed);
}

export function say(text: string, failed = false): void {
  set({ message: { text, failed } });
}

/** Whether letters are being changed: no other change can begin. */
export function isChanging({ queue }: QueueViewState): boolean {
  return queue?.operations.some(({ phase }) => phase === 'changing') ?? false;
}

/** Returns the list, where it is of the letters that are to be shown now. */
export function shownList(state: QueueViewState): ShownList | undefined {
  return state.list?.of === JSON.stringify(shownChoice(state)) ? state.list : undefined;
}

/** Which letters the list shows; undefined where it shows groups alone. */
export function shownChoice({ tab, text, bodies, group }: QueueViewState): LetterChoice | undefined {
  if (tab !== 'dead') return undefined;
  if (text.trim() !== '') return { text: text.trim(), bodies };
  return group === undefined ? undefined : { group };
}
