import { fromHash, toHash } from './address.js';
import { current, goTo, select, setFilter, step, subscribe } from './store.js';

/**
 * Keeps the address of the page and its state the same. A delivery that is opened is a step of the history, so that the
 * Back button leads to the list again; what else changes takes the place of the step.
 */
export function followAddress(): void {
  goTo(fromHash(location.hash));
  let { selected } = current();
  let hash = toHash(current());
  subscribe(() => {
    const next = toHash(current());
    if (next === hash) return;
    const isOpened = selected === undefined && current().selected !== undefined;
    hash = next;
    selected = current().selected;
    history[isOpened ? 'pushState' : 'replaceState'](null, '', next || location.pathname);
  });
  const follow = () => {
    hash = location.hash;
    const place = fromHash(hash);
    selected = place.selected;
    goTo(place);
  };
  addEventListener('popstate', follow);
}

/** The keys of the page: `/` searches, `j` and `k` go through the list, Enter opens, Escape goes back. */
export function followKeys(): void {
  document.addEventListener('keydown', onKeyDown);
}

function onKeyDown(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || target.closest('dialog, [role=menu]'))
    return;
  const isTyping = target.closest('input, textarea, select') !== null;
  if (event.key === 'Escape') goBack(target);
  else if (event.key === 'Enter' && (target === document.body || target.role === 'listbox')) focusOn('#delivery');
  else if (!isTyping && run(event.key)) event.preventDefault();
}

/** Whether the key does something. */
function run(key: string): boolean {
  if (key === '/') focusOn('#search');
  else if (key === 'j') walk(1);
  else if (key === 'k') walk(-1);
  else return false;
  return true;
}

/** The focus goes along: otherwise Enter would press the button that was clicked before. */
function walk(by: number): void {
  step(by);
  const isCovered = document.querySelector('[inert] [role=listbox]') !== null;
  focusOn(isCovered ? '#delivery' : '[role=listbox]');
}

/** From the search to the list, and from a delivery to none. */
function goBack(target: HTMLElement): void {
  if (target.id !== 'search') select(undefined);
  else if (current().query !== '') setFilter({ query: '' });
  else focusOn('[role=listbox]');
}

function focusOn(selector: string): void {
  document.querySelector<HTMLElement>(selector)?.focus({ preventScroll: true });
}
