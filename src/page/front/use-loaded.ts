import { useEffect, useState } from 'preact/hooks';
import { load, type Room } from './connection.js';
import { useStore } from './use-store.js';

/** Arrow keys pass many deliveries quickly. */
const PAUSE_MS = 40;

/**
 * Returns the entry of an id; undefined until the source has answered. Loaded again when `version` changes, and when a
 * lost connection is restored.
 */
export function useLoaded<Found>(room: Room, id: string | undefined, version?: unknown) {
  const [loaded, setLoaded] = useState<{ id: string; found: Found | undefined }>();
  const isLost = useStore(({ connection }) => connection === 'lost');
  useEffect(() => {
    if (id === undefined || isLost) return;
    let isWanted = true;
    const show = (found: Found | undefined) => isWanted && setLoaded({ id, found });
    const timer = setTimeout(() => load<Found>(room, id).then(show, () => {}), PAUSE_MS);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [room, id, version, isLost]);
  return loaded?.id === id ? loaded : undefined;
}
