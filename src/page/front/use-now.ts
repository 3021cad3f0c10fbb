import { useEffect, useState } from 'preact/hooks';
import { now } from './store.js';
import { useStore } from './use-store.js';

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
