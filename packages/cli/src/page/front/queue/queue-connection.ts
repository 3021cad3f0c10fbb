import type { ChangeKind, JobPage, LetterDetails, LetterPage, QueueState } from '../../queue-source.js';
import { isNarrow } from '../use-narrow.js';
import { current, PAGE, type ShownLetters, say, set, shownChoice, shownList, type Tab } from './queue-store.js';

/** How long the page waits between two looks: shorter while something is going on. */
const [CALM_MS, BUSY_MS] = [2_000, 500];
/** Typing in the search is one search. A search in bodies reads them from the engine, so it waits longer. */
const [TYPING_MS, TYPING_BODIES_MS] = [250, 1_000];

const token = metaOf('page-token');
/** The run of the program that this document is of. */
export const run = metaOf('page-run');
/** The latest reading of a list, whose answer alone counts. */
let listing: object | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
let typing: ReturnType<typeof setTimeout> | undefined;

/** Reads the state of the queue from now on, while the page is visible. */
export function startPolling(): void {
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) void poll();
  });
  void poll();
}

/** Reads the state, and what is shown of a listing that has changed. */
async function poll(): Promise<void> {
  clearTimeout(timer);
  try {
    const before = current().queue;
    const queue = await read<QueueState>('state');
    if (queue.run !== run) return location.reload(); // another token
    set({ queue, connection: 'open' });
    const isOther = before?.listing.version !== queue.listing.version;
    const numbersDiffer = before?.stats?.depth !== queue.stats?.depth || before?.stats?.dead !== queue.stats?.dead;
    await Promise.all([
      (isOther || shownList(current())?.problem !== undefined) && loadList(),
      isOther && loadDetails(),
      (numbersDiffer || current().jobs?.problem !== undefined) && reloadJobs(),
    ]);
  } catch {
    set({ connection: 'lost' });
  }
  const { queue } = current();
  const isBusy = queue?.listing.isReading || queue?.operations.some(({ phase }) => phase !== 'ended');
  clearTimeout(timer);
  if (!document.hidden) timer = setTimeout(poll, isBusy ? BUSY_MS : CALM_MS);
}

/** Reads the letters of the open group or of the search. */
async function loadList(): Promise<void> {
  const choice = shownChoice(current());
  if (choice === undefined) return set({ list: undefined });
  const of = JSON.stringify(choice);
  const own = {};
  listing = own;
  const list = await read<LetterPage>('letters', { ...choice, limit: current().limit }).then(
    (page) => ({ of, page, problem: undefined }),
    (error) => ({ of, page: shownList(current())?.page, problem: textOf(error) }),
  );
  if (listing === own && of === JSON.stringify(shownChoice(current()))) set({ list });
}

async function loadJobs(): Promise<void> {
  const { tab, queue } = current();
  if (tab === 'dead' || queue?.unlisted[tab] !== undefined) return;
  const shown = await read<JobPage>('jobs', { state: tab }).then(
    (page) => ({ page, problem: undefined }),
    (error) => ({ page: undefined, problem: textOf(error) }),
  );
  if (current().tab === tab) set({ jobs: { of: tab, ...shown } });
}

/** A job that is selected may have left the queue. */
async function reloadJobs(): Promise<void> {
  if (current().tab !== 'dead') await Promise.all([loadJobs(), loadDetails()]);
}

async function loadDetails(): Promise<void> {
  const { selected: handle } = current();
  if (handle === undefined) return set({ details: undefined });
  const details = await read<LetterDetails>('letter', { handle }).then(
    (found) => ({ handle, found, problem: undefined }),
    (error) => ({ handle, found: undefined, problem: textOf(error) }),
  );
  if (current().selected === handle) set({ details });
}

export function showTab(tab: Tab): void {
  if (tab === current().tab) return;
  set({ tab, jobs: undefined, selected: undefined, details: undefined });
  void loadJobs();
  void loadList();
}

/** Opens a group, or closes it where it is open. */
export function toggleGroup(group: string | undefined): void {
  set({ group: current().group === group ? undefined : group, list: undefined, limit: PAGE });
  void loadList();
}

/** Filters the letters while the user types, or at once; `bodies` searches their bodies too. */
export function search(text: string, bodies = current().bodies, isAtOnce = false): void {
  set({ text, bodies, limit: PAGE });
  clearTimeout(typing);
  typing = setTimeout(loadList, isAtOnce ? 0 : bodies ? TYPING_BODIES_MS : TYPING_MS);
}

export function showMore(): void {
  set({ limit: current().limit + PAGE });
  void loadList();
}

export function select(selected: number | undefined): void {
  if (selected === current().selected) return;
  set({ selected, message: undefined });
  void loadDetails();
}

/** Begins to change letters. */
export async function change(kind: ChangeKind, { choice, shown }: ShownLetters): Promise<void> {
  const isCardCovered = isNarrow() && current().selected !== undefined;
  await post(kind, { ...choice, shown }, isCardCovered);
  await poll();
}

export async function cancel(operation: number): Promise<void> {
  await post('cancel', { operation });
  await poll();
}

export async function dismiss(operation: number): Promise<void> {
  await post('dismiss', { operation });
  await poll();
}

export async function refresh(): Promise<void> {
  await post('refresh', {});
  await poll();
}

/** Says what the server has done, where the page does not show it elsewhere, and always what failed. */
async function post(name: string, input: object, isSaid = true): Promise<void> {
  try {
    const headers = { 'content-type': 'application/json', 'x-page-token': token };
    const response = await fetch(`/page/queue/${name}`, { method: 'POST', headers, body: JSON.stringify(input) });
    const { done, error } = await response.json();
    if (done === undefined || isSaid) say(done ?? error, done === undefined);
    else set({ message: undefined });
  } catch {
    say('The program on this machine does not answer. Is it still running?', true);
  }
}

/** Rejects with what the server says, where it does not give the value. */
async function read<Found>(name: string, fields: object = {}): Promise<Found> {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(given.map(([field, value]) => [field, String(value)]));
  const response = await fetch(`/page/queue/${name}?${query}`);
  const value = await response.json();
  if (!response.ok) throw new Error(value.error);
  return value;
}

function metaOf(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name=${name}]`)?.content ?? '';
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
