import { useEffect } from 'preact/hooks';
import { WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import type { DeliveryState } from '../page-source.js';
import { act } from './connection.js';
import { counted } from './format.js';
import { passTime, setFilter } from './store.js';
import { useStore } from './store-hooks.js';

const STATES: readonly (DeliveryState | 'all')[] = ['all', 'sending', 'waiting', 'delivered', 'failed', 'dead'];
const MINUTE = 60_000;
const PERIODS: readonly (readonly [ms: number, label: string])[] = [
  [0, 'any time'],
  [5 * MINUTE, 'last 5 minutes'],
  [60 * MINUTE, 'last hour'],
  [24 * 60 * MINUTE, 'last day'],
];

/** Selects the deliveries in the list, with the actions on all of them. */
export function Filter() {
  const query = useStore((state) => state.query);
  const only = useStore((state) => state.only);
  const type = useStore((state) => state.type);
  const since = useStore((state) => state.since);
  const total = useStore((state) => state.total);
  const visible = useStore((state) => state.visible.length);
  useEffect(() => {
    if (since === 0) return;
    const timer = setInterval(passTime, 1_000);
    return () => clearInterval(timer);
  }, [since]);
  // A link may name a type that is not one of the service.
  const types: readonly string[] = WEBHOOK_EVENT_TYPES;
  const others = type === '' || types.includes(type) ? [] : [type];
  const periods = PERIODS.some(([ms]) => ms === since)
    ? PERIODS
    : [...PERIODS, [since, `last ${since / MINUTE} minutes`]];
  return (
    <search class="filter">
      <input
        id="search"
        type="search"
        aria-label="Search deliveries"
        aria-keyshortcuts="/"
        placeholder="Search: id, URL, status, cause …"
        value={query}
        onInput={(event) => setFilter({ query: event.currentTarget.value })}
      />
      <span class="note">
        {visible === total
          ? counted(total, 'delivery', 'deliveries')
          : `${visible.toLocaleString()} of ${total.toLocaleString()}`}
      </span>
      <select
        aria-label="State"
        value={only}
        onChange={(event) => setFilter({ only: event.currentTarget.value as DeliveryState | 'all' })}
      >
        {STATES.map((state) => (
          <option key={state} value={state}>
            {state === 'all' ? 'every state' : state}
          </option>
        ))}
      </select>
      <select aria-label="Type" value={type} onChange={(event) => setFilter({ type: event.currentTarget.value })}>
        <option value="">every type</option>
        {[...types, ...others].map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
      <select
        aria-label="Time"
        value={since}
        onChange={(event) => setFilter({ since: Number(event.currentTarget.value) })}
      >
        {periods.map(([ms, label]) => (
          <option key={ms} value={ms}>
            {label}
          </option>
        ))}
      </select>
      <ForAll />
    </search>
  );
}

function ForAll() {
  const offers = useStore((state) => state.offers);
  const dead = useStore((state) => state.dead);
  const total = useStore((state) => state.total);
  const clear = () => {
    if (total > 0 && confirm('Remove all deliveries that have ended from this page?')) act('clear', {});
  };
  return (
    <>
      {offers.includes('redeliverDead') && (
        <button type="button" aria-disabled={dead === 0} onClick={() => dead > 0 && act('redeliverDead', {})}>
          Redeliver all dead
        </button>
      )}
      {offers.includes('clear') && (
        <button type="button" aria-disabled={total === 0} onClick={clear}>
          Clear
        </button>
      )}
    </>
  );
}
