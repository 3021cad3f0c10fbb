import type { AccountRecord, Accounts } from '../api/accounts.js';
import type { KeyRecord, Keys } from '../api/keys.js';
import { type Deliveries, type DeliveryRecord, isFinished } from '../delivery/deliveries.js';
import type { EndpointRecord, Endpoints } from '../delivery/endpoints.js';
import type { Sender } from '../delivery/sender.js';
import type { Clock } from '../time/clock.js';
import type { Totals } from '../totals.js';

/** What of an emulator outlives its process. The attempts do not, and the options are given anew. */
export interface State {
  format: typeof FORMAT;
  savedAt: number;
  totals: Totals;
  accounts: readonly AccountRecord[];
  keys: readonly KeyRecord[];
  endpoints: readonly EndpointRecord[];
  events: readonly { id: string; type: string; idempotencyKey: string; body: string }[];
  deliveries: readonly SavedDelivery[];
}

interface SavedDelivery
  extends Pick<DeliveryRecord, 'id' | 'n' | 'test' | 'createdAt' | 'state' | 'attempts' | 'redeliveries'> {
  /** Index of its event. */
  event: number;
  endpointId: string;
  /** How much of the schedule is left until the next attempt. */
  dueInMs: number;
}

export interface StateParts {
  clock: Clock;
  totals: Totals;
  accounts: Accounts;
  keys: Keys;
  endpoints: Endpoints;
  deliveries: Deliveries;
  sender: Sender;
}

export const FORMAT = 'service-webhooks emulator 1';

export function takeState({ clock, totals, accounts, keys, endpoints, deliveries }: StateParts): State {
  const all = [...deliveries.all()];
  const events = [...new Set(all.map(({ event }) => event))];
  const indexes = new Map(events.map((event, index) => [event, index]));
  const decoder = new TextDecoder();
  return {
    format: FORMAT,
    savedAt: clock.now(),
    totals: { ...totals },
    accounts: [...accounts.all()],
    keys: [...keys.all()],
    endpoints: [...endpoints.all()],
    events: events.map((event) => ({ ...event, body: decoder.decode(event.body) })),
    deliveries: all.map(({ id, n, test, createdAt, state, attempts, redeliveries, event, endpoint, dueAt }) => ({
      id,
      n,
      test,
      createdAt,
      // An attempt that is on its way is made again: its answer will not be known.
      state: state === 'sending' ? 'waiting' : state,
      attempts: state === 'sending' ? attempts - 1 : attempts,
      redeliveries,
      event: indexes.get(event) ?? 0,
      endpointId: endpoint.id,
      dueInMs: dueAt === undefined ? 0 : Math.max(0, clock.msUntil(dueAt())),
    })),
  };
}

/** Puts it in the place of everything there was. A wait goes on, less the real time since it was saved. */
export function restoreState(state: State, parts: StateParts): void {
  const { clock, totals, accounts, keys, endpoints, deliveries, sender } = parts;
  for (const endpoint of endpoints.all()) deliveries.removeOf(endpoint);
  for (const part of [deliveries, endpoints, keys, accounts]) part.clear();
  clock.set(state.savedAt);
  const passed = Math.max(0, -clock.msUntil(state.savedAt));
  Object.assign(totals, state.totals);
  for (const account of state.accounts) accounts.restore(account);
  for (const key of state.keys) keys.restore(key);
  for (const endpoint of state.endpoints) endpoints.restore(endpoint);
  const encoder = new TextEncoder();
  const events = state.events.map((event) => ({ ...event, body: encoder.encode(event.body) }));
  for (const { event, endpointId, dueInMs, ...saved } of state.deliveries) {
    const at = { event: events[event], endpoint: endpoints.get(endpointId) };
    if (at.event === undefined || at.endpoint === undefined) continue;
    const delivery = deliveries.add({ ...saved, event: at.event, endpoint: at.endpoint });
    const wait = dueInMs - passed;
    if (isFinished(delivery)) deliveries.finished(delivery);
    else if (wait > 0) sender.schedule(delivery, wait);
    else sender.due(delivery);
  }
}
