import { render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { connect } from './connection.js';
import { Controls } from './controls.js';
import { Delivery } from './delivery.js';
import { DeliveryList } from './delivery-list.js';
import { Filter } from './filter.js';
import { counted, dateAndTimeOf, durationOf } from './format.js';
import { followAddress, followKeys } from './navigation.js';
import { rowOf } from './store.js';
import { useNow, useStore } from './store-hooks.js';

/** As in the style sheet. */
const narrow = matchMedia('(max-width: 900px)');
/** A screen reader would read nothing else if it announced each delivery. */
const QUIET_MS = 3_000;

followAddress();
followKeys();
render(<App />, document.body);
connect();

function App() {
  const isOpen = useStore((state) => state.selected !== undefined);
  const isNarrow = useNarrow();
  const isCovered = isNarrow && isOpen;
  useFocus(isOpen, isCovered);
  return (
    <>
      <header inert={isCovered}>
        <Heading />
        <details class="tools" open={!isNarrow}>
          <summary>Controls</summary>
          <Controls />
        </details>
      </header>
      <main class={isOpen ? 'opened' : ''}>
        <section class="overview" aria-label="Deliveries" inert={isCovered}>
          <Filter />
          <DeliveryList />
        </section>
        <Delivery />
      </main>
      <Messages />
    </>
  );
}

/** Whether a delivery covers the list, as on a phone. */
function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(narrow.matches);
  useEffect(() => {
    const look = () => setNarrow(narrow.matches);
    narrow.addEventListener('change', look);
    return () => narrow.removeEventListener('change', look);
  }, []);
  return isNarrow;
}

/** What covers the list has the focus; when a delivery is closed, the list has it again. */
function useFocus(isOpen: boolean, isCovered: boolean): void {
  const wasOpen = useRef(isOpen);
  useEffect(() => {
    if (isCovered) document.getElementById('delivery')?.focus();
    else if (wasOpen.current && !isOpen) document.querySelector<HTMLElement>('[role=listbox]')?.focus();
    wasOpen.current = isOpen;
  }, [isOpen, isCovered]);
}

/** Shows the title, the time of the source, and whether the page is connected. */
function Heading() {
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

/** Announces results of the user's actions to everyone, and changes of the list to screen readers. */
function Messages() {
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
