import { useEffect, useState } from 'preact/hooks';
import type { State } from './state.js';
import { current, now, subscribe } from './store.js';
import { usePart } from './use-part.js';

/** Returns a part of the state of the deliveries, as `usePart` does. */
export function useStore<Part>(partOf: (state: State) => Part): Part {
  return usePart({ current, subscribe }, partOf);
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

/** Returns whether the server has not yet answered to the query. */
export function useSearching(): boolean {
  return useStore(({ query, found, connection }) => {
    return connection === 'open' && query.trim() !== '' && found?.query !== query.trim();
  });
}

/** Returns why no action can be started now; undefined where one can. */
export function useBlocked(): string | undefined {
  const connection = useStore((state) => state.connection);
  return { opening: 'The page is connecting.', open: undefined, lost: LOST }[connection];
}

const LOST = 'The program on this machine does not answer. Is it still running?';
