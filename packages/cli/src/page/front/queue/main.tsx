import { render } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { timeOf } from '../format.js';
import { useNarrow } from '../use-narrow.js';
import { Views } from '../views.js';
import { AskDialog } from './ask-dialog.js';
import { DeadLetters } from './dead-letters.js';
import { Jobs } from './jobs.js';
import { Letter } from './letter.js';
import { Numbers } from './numbers.js';
import { Operations } from './operations.js';
import { showTab, startPolling } from './queue-connection.js';
import { useView } from './queue-hooks.js';
import { followAddress, followKeys } from './queue-navigation.js';
import type { Tab } from './queue-store.js';
import { rowOf } from './visible-rows.js';

const TABS: readonly (readonly [tab: Tab, label: string])[] = [
  ['dead', 'Dead letters'],
  ['waiting', 'Waiting'],
  ['running', 'Running'],
];

followAddress();
followKeys();
render(<App />, document.body);
startPolling();

function App() {
  const isOpen = useView((state) => state.selected !== undefined);
  const isCovered = useNarrow() && isOpen;
  const tab = useView((state) => state.tab);
  useFocus(isOpen, isCovered);
  return (
    <>
      <header class="queue-header" inert={isCovered}>
        <Heading />
        <Problem />
        <Numbers />
        <Operations />
      </header>
      <main class={isOpen ? 'queue-main opened' : 'queue-main'}>
        <section class="overview" aria-label="Queue" inert={isCovered}>
          <Tabs />
          <div id="panel" role="tabpanel" tabIndex={-1} class="panel" aria-labelledby={`tab-${tab}`}>
            {tab === 'dead' ? <DeadLetters /> : <Jobs tab={tab} />}
          </div>
        </section>
        <Letter />
      </main>
      <Message />
      <AskDialog />
    </>
  );
}

/** What covers the list has the focus; when a letter is closed, its row has it again. */
function useFocus(isOpen: boolean, isCovered: boolean): void {
  const wasCovered = useRef(isCovered);
  const row = useRef<number | undefined>(undefined);
  const selected = useView((state) => state.selected);
  useEffect(() => {
    if (selected !== undefined) row.current = selected;
    if (isCovered) document.getElementById('letter')?.focus();
    else if (wasCovered.current && !isOpen && row.current !== undefined) rowOf(row.current)?.focus();
    wasCovered.current = isCovered;
  }, [isOpen, isCovered, selected]);
}

function Heading() {
  const name = useView(({ queue }) => queue?.name);
  const where = useView(({ queue }) => queue?.where);
  const connection = useView((state) => state.connection);
  const problem = useView(({ queue }) => queue?.problem);
  const title = name === undefined ? 'Queue' : `Queue ${name}`;
  useEffect(() => {
    document.title = title;
  }, [title]);
  const isLive = connection === 'open' && problem === undefined;
  return (
    <div class="heading">
      <h1>{title}</h1>
      <Views current="queue" />
      <span class={`connection ${isLive ? 'open' : connection === 'opening' ? 'opening' : 'lost'}`}>
        {connection === 'opening' && 'connecting'}
        {connection === 'lost' && 'connection lost, trying again'}
        {connection === 'open' && (isLive ? 'live' : 'no answer, trying again')}
      </span>
      <span class="note where">{where}</span>
    </div>
  );
}

function Problem() {
  const problem = useView(({ queue }) => queue?.problem);
  const at = useView(({ queue }) => queue?.listing.at);
  const hasNumbers = useView(({ queue }) => queue?.stats !== undefined);
  const read =
    at !== undefined
      ? `Last read ${timeOf(at)}.`
      : hasNumbers
        ? 'The dead letters were not read yet.'
        : 'Nothing was read yet.';
  return (
    <div role="alert">
      {problem !== undefined && (
        <p class="problem banner">
          {problem.replace(/[.\s]+$/, '')}. {read}
        </p>
      )}
    </div>
  );
}

function Tabs() {
  const current = useView((state) => state.tab);
  const dead = useView(({ queue }) => (queue?.problem === undefined ? queue?.stats?.dead : undefined));
  const at = TABS.findIndex(([tab]) => tab === current);
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const next = by && TABS[(at + by + TABS.length) % TABS.length]?.[0];
    if (!next) return;
    showTab(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label="Jobs" onKeyDown={onKeyDown}>
      {TABS.map(([tab, label]) => (
        <button
          key={tab}
          id={`tab-${tab}`}
          type="button"
          role="tab"
          aria-selected={tab === current}
          aria-controls="panel"
          tabIndex={tab === current ? 0 : -1}
          onClick={() => showTab(tab)}
        >
          {label}
          {tab === 'dead' && dead !== undefined && ` ${dead.toLocaleString()}`}
        </button>
      ))}
    </div>
  );
}

function Message() {
  const message = useView((state) => state.message);
  return (
    <footer>
      <p role="status" class={message?.failed ? 'message failed' : 'message'}>
        {message?.text}
      </p>
    </footer>
  );
}
