import { useEffect, useState } from 'preact/hooks';
import { load } from './connection.js';
import { useStore } from './use-store.js';

/** Arrow keys pass by many deliveries on their way to one. */
const PAUSE_MS = 40;

/**
 * What the source has under an id; undefined until it has answered. Loaded again when `version` is another, and when a
 * connection that was lost has come back.
 */
export function useLoaded<Found>(room: 'deliveries' | 'attempts', id: string | undefined, version?: unknown) {
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
