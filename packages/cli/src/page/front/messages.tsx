import { useEffect, useRef, useState } from 'preact/hooks';
import { counted } from './format.js';
import { useStore } from './store-hooks.js';

/** A screen reader would read nothing else if it announced each delivery. */
const QUIET_MS = 3_000;

/** Announces results of the user's actions to everyone, and changes of the list to screen readers. */
export function Messages() {
  const message = useStore((state) => state.message);
  const connection = useStore((state) => state.connection);
  return (
    <footer>
      <p role="status" class={message?.failed ? 'message failed' : 'message'}>
        {message?.text}
      </p>
      <p role="status" class="unseen">
        {connection === 'lost' ? 'Connection lost, trying again.' : <News />}
      </p>
    </footer>
  );
}

function News() {
  const total = useStore((state) => state.total);
  const [said, setSaid] = useState(total);
  const latest = useRef(total);
  latest.current = total;
  const isBehind = said !== total;
  useEffect(() => {
    if (!isBehind) return;
    const timer = setTimeout(() => setSaid(latest.current), QUIET_MS);
    return () => clearTimeout(timer);
  }, [isBehind]);
  return <>{counted(said, 'delivery', 'deliveries')}</>;
}
