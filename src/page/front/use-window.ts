import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** The same value as in the style sheet. */
export const ROW_PX = 34;
/** Extra rows above and below, so that scrolling does not flicker. */
const SPARE = 8;

/** Returns the range of visible rows of a long list. */
export function useWindow(count: number) {
  const ref = useRef<HTMLDivElement>(null);
  const [{ top, height }, setBox] = useState({ top: 0, height: 800 });
  const look = () => {
    const box = ref.current;
    if (box) setBox({ top: box.scrollTop, height: box.clientHeight });
  };
  useLayoutEffect(() => {
    const observer = new ResizeObserver(look);
    if (ref.current) observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  const first = Math.max(0, Math.floor(top / ROW_PX) - SPARE);
  const last = Math.min(count, Math.ceil((top + height) / ROW_PX) + SPARE);
  return { ref, first, last, onScroll: look, rowsInSight: Math.max(1, Math.floor(height / ROW_PX) - 1) };
}
