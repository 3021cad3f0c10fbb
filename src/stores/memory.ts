import { check, checkFunction, checkPositiveInteger, integers } from '../check.js';
import type { ClaimResult, DedupeRecord, DedupeStore, Mutation } from './contract.js';
import { claimEntry, completeEntry, type Entry, extendEntry, newEntry, recordOf, releaseEntry } from './entry.js';

/** How a {@link memoryStore} is bounded. */
export interface MemoryStoreOptions {
  /** How many events are remembered; 100 000. What is in progress is never forgotten for room. */
  maxEntries?: number | undefined;
  /** Its clock, in milliseconds; by default one that never jumps. */
  now?: (() => number) | undefined;
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
      check(drop(Math.ceil(maxEntries / 2), ({ leaseUntil }) => leaseUntil <= time) > 0, 'maxEntries: all in progress');
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

    async claim(request): Promise<ClaimResult> {
      checkPositiveInteger('leaseMs', request.leaseMs);
      checkPositiveInteger('retainMs', request.retainMs);
      const time = clock();
      const entry = find(request.key, time) ?? insert(request.key, time, newEntry(request));
      return claimEntry(entry, request, time);
    },

    async extend(claim, { leaseMs }): Promise<Mutation> {
      checkPositiveInteger('leaseMs', leaseMs);
      const time = clock();
      return extendEntry(find(claim.key, time), claim.token, leaseMs, time);
    },

    async complete(claim, { retainMs }): Promise<Mutation> {
      checkPositiveInteger('retainMs', retainMs);
      const time = clock();
      const entry = find(claim.key, time) ?? insert(claim.key, time, newEntry(claim, claim.token, claim.fence));
      return completeEntry(entry, claim.token, retainMs, time);
    },

    async release({ key, token }): Promise<Mutation> {
      return releaseEntry(find(key, clock()), token);
    },

    async inspect(key): Promise<DedupeRecord | undefined> {
      const time = clock();
      const entry = find(key, time);
      return entry && recordOf(entry, time);
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
