import { open, rename, rm } from 'node:fs/promises';
import type { AccountRecord, Accounts } from '../api/accounts.js';
import type { KeyRecord, Keys } from '../api/keys.js';
import { type Deliveries, type DeliveryRecord, isFinished } from '../delivery/deliveries.js';
import type { EndpointRecord, Endpoints } from '../delivery/endpoints.js';
import type { Sender } from '../delivery/sender.js';
import type { Clock } from '../time/clock.js';
import type { Totals } from '../totals.js';

/** The saved state of an emulator. Attempts and options are not part of it. */
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
  /** Index in the list of events. */
  event: number;
  endpointId: string;
  /** The time on the clock until the next attempt is due. */
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
    accounts: [...accounts.byId.values()],
    keys: [...keys.byHash.values()],
    endpoints: [...endpoints.byId.values()],
    events: events.map(({ id, type, idempotencyKey, body }) => ({
      id,
      type,
      idempotencyKey,
      body: decoder.decode(body),
    })),
    deliveries: all.map(({ id, n, test, createdAt, state, attempts, redeliveries, event, endpoint, dueAt }) => ({
      id,
      n,
      test,
      createdAt,
      // A running attempt is repeated after loading, because its answer is lost.
      state: state === 'sending' ? 'waiting' : state,
      attempts: state === 'sending' ? attempts - 1 : attempts,
      redeliveries,
      event: indexes.get(event) ?? 0,
      endpointId: endpoint.id,
      dueInMs: dueAt === undefined ? 0 : Math.max(0, clock.msUntil(dueAt())),
    })),
  };
}

/** Replaces everything by a saved state. On a real clock, waits are shorter by the time since the state was saved. */
export function restoreState(state: State, parts: StateParts): void {
  const { clock, totals, accounts, keys, endpoints, deliveries, sender } = parts;
  for (const endpoint of endpoints.byId.values()) deliveries.removeOf(endpoint);
  for (const records of [deliveries, endpoints.byId, keys.byHash, accounts.byId]) records.clear();
  clock.set(state.savedAt);
  const passed = Math.max(0, -clock.msUntil(state.savedAt));
  Object.assign(totals, state.totals);
  for (const account of state.accounts) accounts.byId.set(account.id, account);
  for (const key of state.keys) keys.byHash.set(key.hash, key);
  for (const endpoint of state.endpoints) endpoints.byId.set(endpoint.id, endpoint);
  const encoder = new TextEncoder();
  const events = state.events.map(({ body, ...event }) => {
    return { ...event, jobId: jobIdIn(body), body: encoder.encode(body) };
  });
  for (const { event, endpointId, dueInMs, ...saved } of state.deliveries) {
    const at = { event: events[event], endpoint: endpoints.byId.get(endpointId) };
    if (at.event === undefined || at.endpoint === undefined) continue;
    const delivery = deliveries.add({ ...saved, event: at.event, endpoint: at.endpoint });
    const wait = dueInMs - passed;
    if (isFinished(delivery)) deliveries.finished(delivery);
    else if (wait > 0) sender.schedule(delivery, wait);
    else sender.due(delivery);
  }
}

function jobIdIn(body: string): string | null {
  try {
    const { jobId } = Object(JSON.parse(body));
    return typeof jobId === 'string' ? jobId : null;
  } catch {
    return null;
  }
}

/** Replaces a file completely or not at all. Only its owner can read it, because it contains signing secrets. */
export async function writeStateFile(path: string, text: string): Promise<void> {
  const draft = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
