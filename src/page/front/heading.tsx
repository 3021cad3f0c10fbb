import { useEffect } from 'preact/hooks';
import { dateAndTimeOf, durationOf } from './format.js';
import { rowOf } from './store.js';
import { useNow } from './use-now.js';
import { useStore } from './use-store.js';

/** Shows the title, the time of the source, and whether the page is connected. */
export function Heading() {
  const title = useStore((state) => state.title) || document.title;
  const speed = useStore((state) => state.overview.speed);
  const connection = useStore((state) => state.connection);
  const ahead = useStore((state) => state.overview.ahead);
  const row = useStore((state) => rowOf(state.selected));
  const now = useNow();
  const about = row && `${row.type} ${row.state} · ${title}`;
  useEffect(() => {
    document.title = about ?? title;
  }, [about, title]);
  return (
    <div class="heading">
      <h1>{title}</h1>
      <span class={`connection ${connection}`}>
        {{ opening: 'connecting', open: 'live', lost: 'connection lost, trying again' }[connection]}
      </span>
      <span class="clock">
        <time dateTime={new Date(now).toISOString()}>{dateAndTimeOf(now)}</time>
        {speed === 0 && ' · the clock stands until it is advanced'}
        {speed > 0 && speed !== 1 && ` · waits pass ${speed} times faster`}
        {ahead !== undefined && ` · ${durationOf(ahead)} ahead of this machine`}
      </span>
    </div>
  );
}
