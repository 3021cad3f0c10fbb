import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { current, type State, subscribe } from './store.js';

/** A part of the state; a component is drawn again only when it is another. */
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
    look(); // what has changed since it was drawn
    return subscribe(look);
  }, []);
  return part;
}
