import { useEffect, useState } from 'preact/hooks';

/** As in the style sheet. */
const narrow = matchMedia('(max-width: 900px)');

/** Returns whether what is opened covers the list now. */
export function isNarrow(): boolean {
  return narrow.matches;
}

/** Returns whether a delivery covers the list, as on a phone. */
export function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(narrow.matches);
  useEffect(() => {
    const look = () => setNarrow(narrow.matches);
    narrow.addEventListener('change', look);
    return () => narrow.removeEventListener('change', look);
  }, []);
  return isNarrow;
}
