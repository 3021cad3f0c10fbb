import { useEffect, useState } from 'preact/hooks';
import { load } from './connection.js';

/** Arrow keys pass by many deliveries on their way to one. */
const PAUSE_MS = 40;

/** What the source has under an id, loaded again when `version` is another. `found` is undefined until it is there. */
export function useLoaded<Found>(room: 'deliveries' | 'attempts', id: string | undefined, version?: unknown) {
  const [loaded, setLoaded] = useState<{ id: string; found: Found | undefined }>();
  useEffect(() => {
    if (id === undefined) return;
    let isWanted = true;
    const timer = setTimeout(async () => {
      const found = await load<Found>(room, id);
      if (isWanted) setLoaded({ id, found });
    }, PAUSE_MS);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [room, id, version]);
  return loaded?.id === id ? loaded : undefined;
}
