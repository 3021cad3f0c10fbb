import { fromHash, toHash } from './address.js';
import { current, goTo, subscribe } from './store.js';

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
