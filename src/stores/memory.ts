import { check, checkFunction, checkPositiveInteger, integers } from '../check.js';
import type { ClaimResult, DedupeRecord, DedupeStore, Mutation, Seen } from './contract.js';

/** How a {@link memoryStore} is bounded. */
export interface MemoryStoreOptions {
  /** How many events are remembered; 100 000. What is in progress is never forgotten for room. */
  maxEntries?: number | undefined;
  /** Its clock, in milliseconds; by default one that never jumps. */
  now?: (() => number) | undefined;
}

/** A key without an owner has no token and no lease. */
interface Entry {
  state: 'in_progress' | 'completed' | 'released';
  token: string;
  fence: number;
  attempt: number;
  leaseUntil: number;
  expiresAt: number;
  fingerprint: string;
  alias?: string | undefined;
}

/**
 * Remembers events in this process: for one receiver on one machine, and for tests. After a restart everything is
 * forgotten; several processes share nothing.
 *
 * Holds between half of `maxEntries` and all of it: the oldest half of what is not in progress is let go when it is
 * full. A claim is refused (the delivery gets 503) when it is full of what is in progress.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * createReceiver({ secret, on, dedupe: { store: memoryStore({ maxEntries: 20_000 }) } });
 */
export function memoryStore(options: MemoryStoreOptions = {}): DedupeStore {
  const { now = () => performance.now() } = options;
  const { maxEntries } = integers(options, { maxEntries: 100_000 });
  checkFunction('now', now);
  let entries = new Map<string, Entry>();

  function find(key: string): Entry | undefined {
    const entry = entries.get(key);
    return entry && entry.expiresAt > now() ? entry : undefined;
  }

  function insert(key: string, entry: Entry): void {
    if (entries.size >= maxEntries && !entries.has(key)) makeRoom();
    entries.set(key, entry);
  }

  /** Half at a time: one by one, a Map's first key would have to be found among the deleted, again and again. */
  function makeRoom(): void {
    const time = now();
    const keep = (from: number) => [...entries].filter(([, { leaseUntil }], i) => i >= from || leaseUntil > time);
    let kept = keep(maxEntries / 2);
    if (kept.length === maxEntries) kept = keep(maxEntries);
    check(kept.length < maxEntries, 'maxEntries: all are in progress');
    entries = new Map(kept);
    console.warn('service-webhooks: memoryStore is full and forgets the oldest');
  }

  return {
    scope: 'process',

    async claim({ key, token, fingerprint, alias, leaseMs, retainMs }): Promise<ClaimResult> {
      checkPositiveInteger('leaseMs', leaseMs);
      checkPositiveInteger('retainMs', retainMs);
      const time = now();
      const entry = find(key) ?? {
        state: 'released',
        token: '',
        fence: 0,
        attempt: 0,
        leaseUntil: 0,
        fingerprint,
        alias,
      };
      const seen: Seen = { fingerprint: entry.fingerprint, alias: entry.alias };
      let { fence, attempt } = entry;
      if (entry.state === 'completed') return { status: 'completed', fence, seen };
      if (entry.token !== token) {
        if (entry.leaseUntil > time)
          return { status: 'in_progress', fence, retryAfterMs: entry.leaseUntil - time, seen };
        fence += 1;
        attempt += 1;
      }
      const [leaseUntil, expiresAt] = [time + leaseMs, time + retainMs];
      insert(key, { state: 'in_progress', token, fence, attempt, leaseUntil, expiresAt, ...seen });
      return { status: 'acquired', fence, attempt, seen };
    },

    async extend({ key, token }, { leaseMs }): Promise<Mutation> {
      checkPositiveInteger('leaseMs', leaseMs);
      const entry = find(key);
      if (entry?.token !== token || entry.state === 'completed') return 'lost';
      entry.leaseUntil = now() + leaseMs;
      return 'ok';
    },

    async complete({ key, token, fence, fingerprint, alias }, { retainMs }): Promise<Mutation> {
      checkPositiveInteger('retainMs', retainMs);
      const entry = find(key) ?? { token, fence, attempt: 1, fingerprint, alias };
      if (entry.token !== token) return 'lost';
      insert(key, { ...entry, state: 'completed', leaseUntil: 0, expiresAt: now() + retainMs });
      return 'ok';
    },

    async release({ key, token }): Promise<Mutation> {
      const entry = find(key);
      if (!entry || entry.state === 'released') return 'ok';
      if (entry.token !== token || entry.state === 'completed') return 'lost';
      Object.assign(entry, { state: 'released', token: '', leaseUntil: 0 });
      return 'ok';
    },

    async inspect(key): Promise<DedupeRecord | undefined> {
      const entry = find(key);
      if (!entry) return undefined;
      const { token: _, leaseUntil, expiresAt, ...record } = entry;
      const leaseMsLeft = entry.state === 'in_progress' ? leaseUntil - now() : undefined;
      return { ...record, leaseMsLeft, retainMsLeft: expiresAt - now() };
    },

    async forget(key) {
      entries.delete(key);
    },

    async purgeExpired({ limit }) {
      const expired = [...entries.keys()].filter((key) => !find(key)).slice(0, limit);
      for (const key of expired) entries.delete(key);
      return expired.length;
    },
  };
}
