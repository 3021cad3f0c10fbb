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
  const entries = new Map<string, Entry>();
  const clock = () => Math.floor(now()); // a small integer takes no room of its own on the heap

  function find(key: string, time: number): Entry | undefined {
    const entry = entries.get(key);
    return entry && entry.expiresAt > time ? entry : undefined;
  }

  function insert(key: string, time: number, entry: Entry): Entry {
    if (entries.size >= maxEntries && !entries.has(key)) {
      // Half at a time: one by one, a Map's first key would have to be found among the deleted, again and again.
      const dropped = drop(Math.ceil(maxEntries / 2), ({ leaseUntil }) => leaseUntil <= time);
      check(dropped > 0, 'maxEntries: all are in progress');
    }
    entries.set(key, entry);
    return entry;
  }

  function drop(limit: number, unwanted: (entry: Entry) => boolean): number {
    let dropped = 0;
    for (const [key, entry] of entries) {
      if (dropped < limit && unwanted(entry) && entries.delete(key)) dropped += 1;
    }
    return dropped;
  }

  return {
    scope: 'process',

    async claim({ key, token, fingerprint, alias, leaseMs, retainMs }): Promise<ClaimResult> {
      checkPositiveInteger('leaseMs', leaseMs);
      checkPositiveInteger('retainMs', retainMs);
      const time = clock();
      const entry = find(key, time) ?? insert(key, time, anEntry('', 0, fingerprint, alias));
      const { state, fence } = entry;
      const seen: Seen = { fingerprint: entry.fingerprint, alias: entry.alias };
      if (state === 'completed') return { status: state, fence, seen };
      if (entry.token !== token) {
        const retryAfterMs = entry.leaseUntil - time;
        if (retryAfterMs > 0) return { status: 'in_progress', fence, retryAfterMs, seen };
        entry.fence += 1;
        entry.attempt += 1;
      }
      entry.state = 'in_progress';
      entry.token = token;
      entry.leaseUntil = time + leaseMs;
      entry.expiresAt = time + retainMs;
      return { status: 'acquired', fence: entry.fence, attempt: entry.attempt, seen };
    },

    async extend({ key, token }, { leaseMs }): Promise<Mutation> {
      checkPositiveInteger('leaseMs', leaseMs);
      const time = clock();
      const entry = find(key, time);
      if (entry?.token !== token || entry.state === 'completed') return 'lost';
      entry.leaseUntil = time + leaseMs;
      entry.expiresAt = Math.max(entry.expiresAt, entry.leaseUntil);
      return 'ok';
    },

    async complete({ key, token, fence, fingerprint, alias }, { retainMs }): Promise<Mutation> {
      checkPositiveInteger('retainMs', retainMs);
      const time = clock();
      const entry = find(key, time) ?? insert(key, time, anEntry(token, fence, fingerprint, alias));
      if (entry.token !== token) return 'lost';
      entry.state = 'completed';
      entry.leaseUntil = 0;
      entry.expiresAt = time + retainMs;
      return 'ok';
    },

    async release({ key, token }): Promise<Mutation> {
      const entry = find(key, clock());
      if (!entry || entry.state === 'released') return 'ok';
      if (entry.token !== token || entry.state === 'completed') return 'lost';
      entry.state = 'released';
      entry.token = '';
      entry.leaseUntil = 0;
      return 'ok';
    },

    async inspect(key): Promise<DedupeRecord | undefined> {
      const time = clock();
      const entry = find(key, time);
      if (!entry) return undefined;
      const { token, leaseUntil, expiresAt, ...record } = entry;
      const leaseMsLeft = entry.state === 'in_progress' ? leaseUntil - time : undefined;
      return { ...record, leaseMsLeft, retainMsLeft: expiresAt - time };
    },

    async forget(key) {
      entries.delete(key);
    },

    async purgeExpired({ limit }) {
      checkPositiveInteger('limit', limit);
      const time = clock();
      return drop(limit, ({ expiresAt }) => expiresAt <= time);
    },
  };
}

/** Of nobody, or of an owner whose row was gone: then it is the first attempt. */
function anEntry(token: string, fence: number, fingerprint: string, alias: string | undefined): Entry {
  return { state: 'released', token, fence, attempt: token ? 1 : 0, leaseUntil: 0, expiresAt: 0, fingerprint, alias };
}
