import { isNarrow } from '../use-narrow.js';
import { run, search, select, showTab, toggleGroup } from './queue-connection.js';
import { current, subscribe, type Tab } from './queue-store.js';
import { visibleRows } from './visible-rows.js';

const TABS: readonly string[] = ['dead', 'waiting', 'running'];

/**
 * Keeps the tab and the letter in the address. A letter that is opened is a step of the history, so that the Back button
 * leads to the list again. A letter of another run of the program is ignored: its number is that of another one now.
 */
export function followAddress(): void {
  const follow = () => {
    const fields = new URLSearchParams(location.hash.slice(1));
    const tab = fields.get('tab') ?? 'dead';
    const letter = Number(fields.get('letter'));
    if (TABS.includes(tab)) showTab(tab as Tab);
    const isOfRun = fields.get('run') === run;
    select(isOfRun && Number.isSafeInteger(letter) && letter > 0 ? letter : undefined);
  };
  follow();
  let { selected } = current();
  subscribe(() => {
    const { tab } = current();
    const fields = {
      ...(tab !== 'dead' && { tab }),
      ...(current().selected && { letter: String(current().selected), run }),
    };
    const hash = Object.keys(fields).length === 0 ? '' : `#${new URLSearchParams(fields)}`;
    const isOpened = selected === undefined && current().selected !== undefined;
    selected = current().selected;
    if (hash !== location.hash) history[isOpened ? 'pushState' : 'replaceState'](null, '', hash || location.pathname);
  });
  addEventListener('popstate', follow);
}

/** The keys of the view: `/` searches, `j` and `k` go through the list, Enter opens, Escape goes back. */
export function followKeys(): void {
  document.addEventListener('keydown', (event) => {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || target.closest('dialog')) return;
    if (event.key === 'Escape') goBack(target);
    else if (target.closest('input:not([type=checkbox]), textarea, select') === null && runKey(event.key))
      event.preventDefault();
  });
}

function runKey(key: string): boolean {
  if (key === '/') document.getElementById('search')?.focus();
  else if (key === 'j') step(1);
  else if (key === 'k') step(-1);
  else return false;
  return true;
}

let last = -1;

/** Moves the focus through the rows. A letter that has the focus is shown, where there is space for both. */
function step(by: number): void {
  const rows = visibleRows();
  const from = rows.indexOf(document.activeElement as HTMLElement);
  const next = Math.min(rows.length - 1, Math.max(0, (from === -1 ? last : from) + by));
  last = next;
  const row = rows[next];
  row?.focus();
  const handle = Number(row?.dataset['row']);
  if (handle > 0 && !isNarrow()) select(handle);
}

/** From the search to the list, from a letter to none, from a group to the groups. */
function goBack(target: HTMLElement): void {
  const { selected, text, group } = current();
  if (target.id === 'search' && text === '') visibleRows()[0]?.focus();
  else if (target.id === 'search') search('');
  else if (selected !== undefined) select(undefined);
  else if (text !== '') search('');
  else if (group !== undefined) toggleGroup(group);
}
