import { dateAndTimeOf } from './format.js';
import { useNow } from './use-now.js';
import { useStore } from './use-store.js';

/** What this is, what time it is there, and whether it is connected. */
export function Heading() {
  const title = useStore((state) => state.title) || document.title;
  const speed = useStore((state) => state.overview.speed);
  const connection = useStore((state) => state.connection);
  const now = useNow();
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
      </span>
    </div>
  );
}
