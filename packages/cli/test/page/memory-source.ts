import type {
  Actions,
  AttemptDetails,
  Change,
  DeliveryDetails,
  DeliveryRow,
  Overview,
  PageSource,
  SentMessage,
} from '../../src/page/page-source.js';

/** A source whose deliveries are what a test says they are. */
export interface MemorySource extends PageSource {
  /** These are new or different from now on. */
  put(...deliveries: DeliveryRow[]): void;
  remove(id: string): void;
  /** What there is to see of a delivery that was put. */
  detail(id: string, details: Partial<DeliveryDetails>, ...attempts: AttemptDetails[]): void;
  /** The overview is different from now on. */
  oversee(changes: Partial<Overview>): void;
}

export function memorySource(actions: Actions = {}): MemorySource {
  const rows = new Map<string, DeliveryRow>();
  const watchers = new Set<(change: Change) => void>();
  const details = new Map<string, Partial<DeliveryDetails>>();
  const attempts = new Map<string, AttemptDetails>();
  let overview: Overview = {
    now: Date.UTC(2026, 6, 11, 12),
    speed: 0,
    endpoints: [{ id: 'wh_1', url: 'http://127.0.0.1:3000/webhooks', state: 'active', deadInARow: 0, pausesAfter: 20 }],
    failing: 0,
  };
  const tell = (change: Omit<Change, 'overview'>) => {
    for (const watcher of watchers) watcher({ overview, ...change });
  };
  return {
    title: 'Deliveries of a test',
    start: { text: 'Start with:', command: 'npx service-webhooks-cli dev 3000' },
    actions,
    snapshot: () => ({ overview, deliveries: [...rows.values()] }),
    watch(changed) {
      watchers.add(changed);
      return () => void watchers.delete(changed);
    },
    delivery(id) {
      const delivery = rows.get(id);
      return delivery && { delivery, attempts: [], waits: [30_000, 120_000], offers: [], ...details.get(id) };
    },
    attempt: (id) => attempts.get(id),
    *attemptTexts() {
      for (const [delivery, { attempts: kept = [] }] of details) {
        for (const { request, answer } of kept.flatMap(({ id }) => attempts.get(id) ?? [])) {
          yield { delivery, text: Buffer.from(request.body.text) };
          yield { delivery, text: [...request.headers, ...(answer?.headers ?? [])].flat().join(' ') };
          yield { delivery, text: answer?.body.text ?? '' };
        }
      }
    },
    message: (id) => {
      const found = attempts.get(id);
      return found && messageOf(found);
    },
    put(...deliveries) {
      for (const row of deliveries) rows.set(row.id, row);
      tell({ deliveries, removed: [] });
    },
    remove(id) {
      rows.delete(id);
      tell({ deliveries: [], removed: [id] });
    },
    detail(id, shown, ...all) {
      details.set(id, { attempts: all, ...shown });
      for (const attempt of all) attempts.set(attempt.id, attempt);
    },
    oversee(changes) {
      overview = { ...overview, ...changes };
      tell({ deliveries: [], removed: [] });
    },
  };
}

function messageOf({ request, at }: AttemptDetails): SentMessage {
  const { method, url, headers, body } = request;
  return { method, path: new URL(url).pathname, headers, body: Buffer.from(body.text), url, at };
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
    duplicates: 0,
    test: false,
    hasFailed: false,
    createdAt: Date.UTC(2026, 6, 11, 12) + n,
    status: 200,
    ...changes,
  };
}

/** The nth attempt of its delivery: acknowledged, with a valid signature. */
export function anAttempt(n: number, changes: Partial<AttemptDetails> = {}): AttemptDetails {
  const body = { text: '{"id":"evt_1"}', bytes: 14, shown: 'text', cut: false } as const;
  return {
    id: `att_${n}`,
    number: n,
    redelivery: 0,
    kind: 'attempt',
    at: Date.UTC(2026, 6, 11, 12, n),
    endedAt: Date.UTC(2026, 6, 11, 12, n) + 80,
    acknowledged: true,
    status: 200,
    faults: [],
    request: { method: 'POST', url: 'http://127.0.0.1:3000/webhooks', headers: [['x-try', String(n)]], body },
    answer: { status: 200, headers: [['x-answer', 'yes']], body: { ...body, text: '', bytes: 0 } },
    verdict: { verdict: 'accepted', causes: [] },
    ...changes,
  };
}
