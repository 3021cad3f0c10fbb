import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** What the components of a page are drawn from. */
interface Store<State> {
  current(): State;
  /** Calls back when something has changed. Returns a function that ends it. */
  subscribe(changed: () => void): () => void;
}

/** Returns a part of the state; a component is drawn again only when that part changes. */
export function usePart<State, Part>({ current, subscribe }: Store<State>, partOf: (state: State) => Part): Part {
  const [, redraw] = useState({});
  const part = partOf(current());
  const drawn = useRef({ partOf, part });
  drawn.current = { partOf, part };
  useLayoutEffect(() => {
    const look = () => {
      const { partOf, part } = drawn.current;
      if (!Object.is(partOf(current()), part)) redraw({});
    };
    look(); // the state may have changed after the component was drawn
    return subscribe(look);
  }, []);
  return part;
}
