import type { Actions, Change, DeliveryRow, PageSource } from '../../src/page/page-source.js';

/** A source whose deliveries are what a test says they are. */
export interface MemorySource extends PageSource {
  /** These are new or different from now on. */
  put(...deliveries: DeliveryRow[]): void;
  remove(id: string): void;
}

export function memorySource(actions: Actions = {}): MemorySource {
  const rows = new Map<string, DeliveryRow>();
  const watchers = new Set<(change: Change) => void>();
  const overview = () => ({
    now: Date.UTC(2026, 6, 11, 12),
    speed: 0,
    endpoints: [
      { id: 'wh_1', url: 'http://127.0.0.1:3000/webhooks', state: 'active' as const, deadInARow: 0, pausesAfter: 20 },
    ],
    failing: 0,
  });
  const tell = (change: Omit<Change, 'overview'>) => {
    for (const watcher of watchers) watcher({ overview: overview(), ...change });
  };
  return {
    title: 'Deliveries of a test',
    actions,
    snapshot: () => ({ overview: overview(), deliveries: [...rows.values()] }),
    watch(changed) {
      watchers.add(changed);
      return () => void watchers.delete(changed);
    },
    delivery(id) {
      const delivery = rows.get(id);
      return delivery && { delivery, attempts: [], waits: [30_000, 120_000], offers: [] };
    },
    attempt: () => undefined,
    put(...deliveries) {
      for (const row of deliveries) rows.set(row.id, row);
      tell({ deliveries, removed: [] });
    },
    remove(id) {
      rows.delete(id);
      tell({ deliveries: [], removed: [id] });
    },
  };
}

/** The nth delivery. */
export function aRow(n: number, changes: Partial<DeliveryRow> = {}): DeliveryRow {
  return {
    id: `dlv_${n}`,
    eventId: `evt_${n}`,
    type: 'stt.completed',
    endpointId: 'wh_1',
    state: 'delivered',
    attempts: 1,
    redeliveries: 0,
    replays: 0,
    test: false,
    createdAt: Date.UTC(2026, 6, 11, 12) + n,
    status: 200,
    ...changes,
  };
}
