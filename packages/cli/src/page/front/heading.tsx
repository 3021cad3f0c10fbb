import { useEffect, useState } from 'preact/hooks';
import { durationOf } from '../../duration.js';
import { dateAndTimeOf } from './format.js';
import { current, rowOf } from './store.js';
import { useNow, useStore } from './store-hooks.js';
import { Views } from './views.js';

/** Shows the title, the time of the source, and whether the page is connected. */
export function Heading() {
  const title = useStore((state) => state.title) || document.title;
  const speed = useStore((state) => state.overview.speed);
  const connection = useStore((state) => state.connection);
  const ahead = useStore((state) => state.overview.ahead);
  const now = useNow();
  useTitle(title);
  return (
    <div class="heading">
      <h1>{title}</h1>
      <Views current="deliveries" />
      <span class={`connection ${connection}`}>
        {{ opening: 'connecting', open: 'live', lost: 'connection lost, trying again' }[connection]}
      </span>
      <span class="clock">
        <time dateTime={new Date(now).toISOString()}>{dateAndTimeOf(now)}</time>
        {speed === 0 && ' · the clock stands: More, Skip time'}
        {speed > 0 && speed !== 1 && ` · waits pass ${speed} times faster`}
        {ahead !== undefined && ` · ${durationOf(ahead)} ahead of this machine`}
      </span>
    </div>
  );
}

/** Names the selected delivery in the title of the document, and counts what has come while the page was hidden. */
function useTitle(title: string): void {
  const row = useStore((state) => rowOf(state.selected));
  const unseen = useUnseen();
  const about = row ? `${row.type} ${row.state} · ${title}` : title;
  useEffect(() => {
    document.title = unseen === 0 ? about : `(${unseen}) ${about}`;
  }, [about, unseen]);
}

/** Returns how many deliveries have come since the page was hidden; 0 while it is visible. */
function useUnseen(): number {
  const arrivals = useStore((state) => state.arrivals);
  const [hiddenSince, setHiddenSince] = useState<number>();
  useEffect(() => {
    const look = () => setHiddenSince(document.hidden ? current().arrivals : undefined);
    look();
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, []);
  return hiddenSince === undefined ? 0 : arrivals - hiddenSince;
}
