import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { DeliveryRow } from '../page-source.js';
import { CopyButton } from './copy-button.js';
import { counted, timeOf } from './format.js';
import { isNew, select, step } from './store.js';
import { useSearching, useStore } from './store-hooks.js';

/** The same value as in the style sheet. */
const ROW_PX = 48;
/** Extra rows above and below, so that scrolling does not flicker. */
const SPARE = 8;

/** Shows all deliveries, the newest first, or how to make one. Only the visible rows of a long list are elements. */
export function DeliveryList() {
  const rows = useStore((state) => state.visible);
  const total = useStore((state) => state.total);
  const selected = useStore((state) => state.selected);
  const { ref, top, first, last, onScroll, rowsInSight } = useWindow(rows.length);
  const isSearching = useSearching();
  useStayInPlace(ref, rows);

  const current = selected === undefined ? -1 : rows.findIndex(({ id }) => id === selected);
  const drawn = rows.slice(first, last).map((row, i) => ({ row, at: first + i }));
  const selectedRow = rows[current];
  // A screen reader is on the selected row, wherever the list is scrolled to.
  if (selectedRow && (current < first || current >= last)) drawn.push({ row: selectedRow, at: current });

  // Only where another one is selected: who scrolls away from it wants to stay there.
  const isThere = current !== -1;
  useLayoutEffect(() => {
    const box = ref.current;
    if (!box || !isThere) return;
    box.scrollTop = Math.min(current * ROW_PX, Math.max(box.scrollTop, (current + 1) * ROW_PX - box.clientHeight));
  }, [selected, isThere]);

  const onKeyDown = (event: KeyboardEvent) => {
    const by = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: rowsInSight,
      PageUp: -rowsInSight,
      Home: -rows.length,
      End: rows.length,
    }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    step(by);
  };

  // The list keeps the focus, also when the row below the pointer is no longer drawn.
  const onClick = ({ target }: MouseEvent) => {
    ref.current?.focus({ preventScroll: true });
    const row = (target as Element).closest<HTMLElement>('[role=option]');
    if (row) select(row.dataset['id']);
  };

  return (
    <>
      <NoDeliveries />
      <div class="frame">
        <div
          ref={ref}
          class="list"
          role="listbox"
          aria-label="Deliveries, the newest first"
          aria-activedescendant={selectedRow && idOf(selectedRow)}
          tabIndex={0}
          onScroll={onScroll}
          onKeyDown={onKeyDown}
          onClick={onClick}
        >
          <div class="sheet" role="presentation" style={{ height: `${rows.length * ROW_PX}px` }}>
            {drawn.map(({ row, at }) => (
              <Row key={row.id} row={row} at={at} count={rows.length} selected={at === current} />
            ))}
          </div>
          {rows.length === 0 && total > 0 && (
            <p class="empty">{isSearching ? 'Searching …' : 'No delivery matches the filter.'}</p>
          )}
        </div>
        <Newer rows={rows} isAway={top > 0} list={ref} />
      </div>
    </>
  );
}

interface NewerProps {
  rows: readonly DeliveryRow[];
  /** Whether the list is scrolled away from the newest delivery. */
  isAway: boolean;
  list: { readonly current: HTMLElement | null };
}

/** A button to the deliveries that have come while the list was scrolled away from them. */
function Newer({ rows, isAway, list }: NewerProps) {
  const filter = useStore(({ query, only, type, since }) => [query, only, type, since].join('\n'));
  const seen = useRef<{ filter: string; newest: string | undefined }>(undefined);
  if (!isAway || seen.current?.filter !== filter) seen.current = { filter, newest: rows[0]?.id };
  const count = rows.findIndex(({ id }) => id === seen.current?.newest);
  if (count <= 0) return null;
  const show = () => {
    list.current?.scrollTo({ top: 0 });
    list.current?.focus({ preventScroll: true });
  };
  return (
    <button type="button" class="newer" onClick={show}>
      ↑ {count.toLocaleString()} new
    </button>
  );
}

function Row({ row, at, count, selected }: { row: DeliveryRow; at: number; count: number; selected: boolean }) {
  const { state, type, eventId, attempts, redeliveries, createdAt, test, duplicates } = row;
  return (
    <div
      id={idOf(row)}
      class={isNew(row.id) ? 'row new' : 'row'}
      role="option"
      aria-selected={selected}
      aria-setsize={count}
      aria-posinset={at + 1}
      tabIndex={-1}
      data-id={row.id}
      style={{ transform: `translateY(${at * ROW_PX}px)` }}
    >
      <span class={`mark ${state}`}>{state}</span>{' '}
      <span class="type">
        <span class="name">{type}</span>
        {duplicates > 0 && <span class="mark duplicate"> duplicate</span>}
      </span>{' '}
      <code class="event">{eventId}</code>{' '}
      <span class="tries">
        {counted(attempts, 'attempt')}
        {redeliveries > 0 && ', started again'}
        {test && ', test'}
      </span>{' '}
      <span class={`answer ${state}`}>{answerOf(row)}</span>{' '}
      <time dateTime={new Date(createdAt).toISOString()}>{timeOf(createdAt)}</time>
    </div>
  );
}

/** Returns the latest answer, and why it did not acknowledge the delivery. */
function answerOf({ status, problem, cause }: DeliveryRow): string {
  if (status === undefined) return cause ?? problem ?? '';
  return cause === undefined ? String(status) : `${status} · ${cause}`;
}

/** What to do as long as there is nothing to see. */
function NoDeliveries() {
  const start = useStore((state) => state.start);
  const isEmpty = useStore((state) => state.connection !== 'opening' && state.total === 0);
  if (!isEmpty) return null;
  return (
    <div class="empty">
      <p>No deliveries yet.</p>
      {start && (
        <>
          <p>{start.text}</p>
          <p class="command">
            <code>{start.command}</code> <CopyButton what="command" text={start.command} />
          </p>
        </>
      )}
    </div>
  );
}

/** Returns the range of visible rows of a long list. */
function useWindow(count: number) {
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
  return { ref, top, first, last, onScroll: look, rowsInSight: Math.max(1, Math.floor(height / ROW_PX) - 1) };
}

/** Keeps the position of a reader further down when rows are added at the top. */
function useStayInPlace(ref: { current: HTMLDivElement | null }, rows: readonly DeliveryRow[]): void {
  const before = useRef(rows);
  useLayoutEffect(() => {
    const box = ref.current;
    const top = box ? Math.floor(box.scrollTop / ROW_PX) : 0;
    const held = before.current[top]?.id;
    before.current = rows;
    if (!box || box.scrollTop === 0 || held === undefined) return;
    const now = rows.findIndex(({ id }) => id === held);
    if (now !== -1) box.scrollTop += (now - top) * ROW_PX;
  }, [rows]);
}

function idOf({ id }: DeliveryRow): string {
  return `row-${id}`;
}
