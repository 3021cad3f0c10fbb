import { useEffect } from 'preact/hooks';
import { current, select, setFilter, step } from './store.js';

/** The keys of the page: `/` searches, `j` and `k` go through the list, Enter opens, Escape goes back. */
export function useKeys(): void {
  useEffect(() => {
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
}

function onKeyDown(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || target.closest('dialog')) return;
  const isTyping = target.closest('input, textarea, select') !== null;
  if (event.key === 'Escape') goBack(target);
  else if (event.key === 'Enter' && (target === document.body || target.role === 'listbox')) focusOn('#delivery');
  else if (!isTyping && run(event.key)) event.preventDefault();
}

/** Whether the key does something. */
function run(key: string): boolean {
  if (key === '/') focusOn('#search');
  else if (key === 'j') step(1);
  else if (key === 'k') step(-1);
  else return false;
  return true;
}

/** From the search to the list, and from a delivery to none. */
function goBack(target: HTMLElement): void {
  if (target.id !== 'search') select(undefined);
  else if (current().query !== '') setFilter({ query: '' });
  else focusOn('[role=listbox]');
}

function focusOn(selector: string): void {
  document.querySelector<HTMLElement>(selector)?.focus();
}
