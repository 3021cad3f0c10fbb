import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { current, now, type State, subscribe } from './store.js';

/** Returns a part of the state; a component is drawn again only when that part changes. */
export function useStore<Part>(partOf: (state: State) => Part): Part {
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

/** Returns the time by the clock of the source, updated each second. */
export function useNow(): number {
  const runs = useStore((state) => state.overview.speed > 0);
  useStore((state) => (runs ? 0 : state.overview.now));
  const [, tick] = useState({});
  useEffect(() => {
    if (!runs) return;
    const timer = setInterval(() => tick({}), 1_000);
    return () => clearInterval(timer);
  }, [runs]);
  return now();
}
