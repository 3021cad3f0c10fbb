import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { current, type State, subscribe } from './store.js';

/** Returns a part of the state; a component is drawn again only when that part changes. */
export function useStore<Part>(select: (state: State) => Part): Part {
  const [, redraw] = useState({});
  const part = select(current());
  const drawn = useRef({ select, part });
  drawn.current = { select, part };
  useLayoutEffect(() => {
    const look = () => {
      const { select, part } = drawn.current;
      if (!Object.is(select(current()), part)) redraw({});
    };
    look(); // the state may have changed after the component was drawn
    return subscribe(look);
  }, []);
  return part;
}
