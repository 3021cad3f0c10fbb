import { useEffect } from 'preact/hooks';
import { WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { counted } from './format.js';
import type { Filter as FilterOf } from './state.js';
import { passTime, setFilter } from './store.js';
import { useSearching, useStore } from './store-hooks.js';

const STATES: readonly (readonly [only: FilterOf['only'], label: string])[] = [
  ['all', 'every state'],
  ['sending', 'sending'],
  ['waiting', 'waiting'],
  ['delivered', 'delivered'],
  ['failed', 'failed'],
  ['dead', 'dead'],
  ['lost', 'lost'],
  ['has-failed', 'failed at least once'],
];
const MINUTE = 60_000;
const PERIODS: readonly (readonly [ms: number, label: string])[] = [
  [0, 'any time'],
  [5 * MINUTE, 'last 5 minutes'],
  [60 * MINUTE, 'last hour'],
  [24 * 60 * MINUTE, 'last day'],
];

/** Selects the deliveries in the list, and says how many there are. */
export function Filter() {
  const query = useStore((state) => state.query);
  const only = useStore((state) => state.only);
  const type = useStore((state) => state.type);
  const since = useStore((state) => state.since);
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
      <div class="query">
        <input
          id="search"
          type="search"
          aria-label="Search deliveries"
          aria-keyshortcuts="/"
          placeholder="Search: id, status, cause, header, body …"
          maxLength={200}
          value={query}
          onInput={(event) => setFilter({ query: event.currentTarget.value })}
        />
        <Count />
      </div>
      <select
        aria-label="State"
        value={only}
        onChange={(event) => setFilter({ only: event.currentTarget.value as FilterOf['only'] })}
      >
        {STATES.map(([state, label]) => (
          <option key={state} value={state}>
            {label}
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
    </search>
  );
}

/** Says how many deliveries are shown, and of how many: a source keeps only the newest ones. */
function Count() {
  const total = useStore((state) => state.total);
  const visible = useStore((state) => state.visible.length);
  const all = useStore((state) => state.overview.total ?? state.total);
  const isSearching = useSearching();
  const kept = counted(total, 'delivery', 'deliveries');
  const list = all > total ? `the newest ${total.toLocaleString()} of ${all.toLocaleString()}` : kept;
  const shown = visible.toLocaleString();
  const filtered = all > total ? `${shown} in ${list}` : `${shown} of ${total.toLocaleString()}`;
  return <span class="note count">{isSearching ? 'searching …' : visible === total ? list : filtered}</span>;
}
