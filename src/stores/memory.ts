import { checkFunction, checkPositiveInteger } from '../check.js';
import type { ClaimResult, DedupeRecord, DedupeStore, Mutation, Seen } from './contract.js';

/** How a {@link memoryStore} is bounded. */
export interface MemoryStoreOptions {
  /** How many events are remembered; 100 000. What is in progress is never forgotten for room. */
  maxEntries?: number | undefined;
  /** Its clock, in milliseconds; by default one that never jumps. */
  now?: (() => number) | undefined;
}

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
  const { maxEntries = 100_000, now = () => performance.now() } = options;
  checkPositiveInteger('maxEntries', maxEntries);
  checkFunction('now', now);
  let entries = new Map<string, Entry>();

  function find(key: string): Entry | undefined {
    const entry = entries.get(key);
    return entry !== undefined && entry.expiresAt > now() ? entry : undefined;
  }

  function insert(key: string, entry: Entry): void {
    if (entries.size >= maxEntries && !entries.has(key)) makeRoom();
    entries.set(key, entry);
  }

  /** Half at a time: one by one, a Map's first key would have to be found among the deleted, again and again. */
  function makeRoom(): void {
    const time = now();
    const keep = (from: number) =>
      [...entries].filter(([, entry], i) => i >= from || (entry.state === 'in_progress' && entry.leaseUntil > time));
    let kept = keep(Math.ceil(maxEntries / 2));
    if (kept.length === maxEntries) kept = keep(maxEntries);
    if (kept.length === maxEntries) throw new Error(`memoryStore is full: ${maxEntries} in progress`);
    entries = new Map(kept);
    console.warn(`service-webhooks: memoryStore is full at ${maxEntries} and forgets the oldest`);
  }

  return {
    scope: 'process',

    async claim({ key, token, fingerprint, alias, leaseMs, retainMs }): Promise<ClaimResult> {
      checkPositiveInteger('leaseMs', leaseMs);
      checkPositiveInteger('retainMs', retainMs);
      const time = now();
      const known = find(key);
      const seen: Seen = known ? { fingerprint: known.fingerprint, alias: known.alias } : { fingerprint, alias };
      let { fence, attempt } = known ?? { fence: 0, attempt: 0 };
      if (known?.state === 'completed') return { status: 'completed', fence, seen };
      if (known?.state !== 'in_progress' || known.token !== token) {
        const left = known?.state === 'in_progress' ? known.leaseUntil - time : 0;
        if (left > 0) return { status: 'in_progress', fence, retryAfterMs: left, seen };
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
      if (entry?.state !== 'in_progress' || entry.token !== token) return 'lost';
      entry.leaseUntil = now() + leaseMs;
      return 'ok';
    },

    async complete({ key, token, fence, fingerprint, alias }, { retainMs }): Promise<Mutation> {
      checkPositiveInteger('retainMs', retainMs);
      const entry = find(key) ?? { state: 'in_progress', token, fence, attempt: 1, fingerprint, alias };
      if (entry.token !== token || entry.state === 'released') return 'lost';
      insert(key, { ...entry, state: 'completed', leaseUntil: 0, expiresAt: now() + retainMs });
      return 'ok';
    },

    async release({ key, token }): Promise<Mutation> {
      const entry = find(key);
      if (entry === undefined || entry.state === 'released') return 'ok';
      if (entry.state === 'completed' || entry.token !== token) return 'lost';
      entry.state = 'released';
      return 'ok';
    },

    async inspect(key): Promise<DedupeRecord | undefined> {
      const entry = find(key);
      if (entry === undefined) return undefined;
      const { token: _, leaseUntil, expiresAt, ...record } = entry;
      const leaseMsLeft = record.state === 'in_progress' ? leaseUntil - now() : undefined;
      return { ...record, leaseMsLeft, retainMsLeft: expiresAt - now() };
    },

    async forget(key) {
      entries.delete(key);
    },

    async purgeExpired({ limit }) {
      const time = now();
      const expired = [...entries].filter(([, { expiresAt }]) => expiresAt <= time).slice(0, limit);
      for (const [key] of expired) entries.delete(key);
      return expired.length;
    },
  };
}
