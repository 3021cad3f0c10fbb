import type { DeliveryState } from '../page-source.js';
import { counted } from './format.js';
import { setFilter } from './store.js';
import { useStore } from './use-store.js';

const STATES: readonly (DeliveryState | 'all')[] = ['all', 'sending', 'waiting', 'delivered', 'failed', 'dead'];

/** Which deliveries are in the list. */
export function Filter() {
  const query = useStore((state) => state.query);
  const only = useStore((state) => state.only);
  const total = useStore((state) => state.total);
  const visible = useStore((state) => state.visible.length);
  return (
    <search class="filter">
      <input
        type="search"
        aria-label="Search deliveries"
        placeholder="type, id, URL, status …"
        value={query}
        onInput={(event) => setFilter({ query: event.currentTarget.value })}
      />
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
      <span class="note">
        {visible === total
          ? counted(total, 'delivery', 'deliveries')
          : `${visible.toLocaleString()} of ${total.toLocaleString()}`}
      </span>
    </search>
  );
}
