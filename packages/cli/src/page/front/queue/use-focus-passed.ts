import { useLayoutEffect, useRef } from 'preact/hooks';

/** Passes the focus to the element with an id where this one is removed with the focus in it, such as a discarded group. */
export function useFocusPassed<Part extends HTMLElement>(id: string) {
  const part = useRef<Part>(null);
  useLayoutEffect(() => {
    const own = part.current;
    return () => {
      if (own?.contains(document.activeElement)) document.getElementById(id)?.focus();
    };
  }, [id]);
  return part;
}
