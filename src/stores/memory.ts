import { check, checkFunction, checkKnownOptions, checkPositiveInteger, integers } from '../option-checks.js';
import type { ClaimResult, DedupeRecord, DedupeStore, Mutation } from './contract.js';
import {
  claimEntry,
  completeEntry,
  type Entry,
  extendEntry,
  lostEntry,
  newEntry,
  nextFence,
  recordOf,
  releaseEntry,
} from './entry.js';
import { markInMemory } from './in-memory.js';
import { jobsInMemory } from './jobs-in-memory.js';
import { reportsInMemory } from './reports.js';

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /** The number of events that are remembered. Default: 100 000. An event in progress is never dropped. */
  maxEntries?: number | undefined;
  /** The clock, in milliseconds. Default: a clock that never jumps; fences follow the time of day. */
  now?: (() => number) | undefined;
}

/**
 * Returns a store that remembers events in the memory of this process: for one receiver on one machine, and for tests.
 * A restart forgets all events, and processes share nothing.
 *
 * When `maxEntries` are remembered, the older half of those that are not in progress is dropped. When all of them are
 * in progress, a claim is refused and the delivery is answered 503.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * createReceiver({ secret, on, dedupe: { store: memoryStore({ maxEntries: 20_000 }) } });
 */
export function memoryStore(options: MemoryStoreOptions = {}): DedupeStore {
  checkKnownOptions('memoryStore', options, ['maxEntries', 'now']);
  const { now } = options;
  const { maxEntries } = integers(options, { maxEntries: 100_000 });
  checkFunction('now', now);
  const entries = new Map<string, Entry>();
  const clock = () => Math.floor(now ? now() : performance.now());
  let lastFence = 0;

  function find(key: string, time: number): Entry | undefined {
    const entry = entries.get(key);
    return entry && entry.expiresAt > time ? entry : undefined;
  }

  function insert(key: string, time: number, entry: Entry): Entry {
    if (entries.size >= maxEntries && !entries.has(key)) {
      // Half at a time, because a Map finds its first key slowly after many deletions.
      const dropped = drop(Math.ceil(maxEntries / 2), ({ leaseUntil }) => leaseUntil <= time);
      check(dropped > 0, 'maxEntries is too small: all remembered events are in progress');
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

  return markInMemory({
    scope: 'process',

    async claim(request): Promise<ClaimResult> {
      checkPositiveInteger('leaseMs', request.leaseMs);
      checkPositiveInteger('retainMs', request.retainMs);
      const time = clock();
      const entry = find(request.key, time) ?? insert(request.key, time, newEntry(request));
      // One count for all keys, so that it outlives each of them.
      const fence = nextFence(Math.max(lastFence, entry.fence), now ? now() : Date.now());
      const result = claimEntry(entry, request, time, fence);
      lastFence = Math.max(lastFence, result.fence);
      return result;
    },

    async extend(claim, { leaseMs }): Promise<Mutation> {
      checkPositiveInteger('leaseMs', leaseMs);
      const time = clock();
      return extendEntry(find(claim.key, time), claim.token, leaseMs, time);
    },

    async complete(claim, { retainMs }): Promise<Mutation> {
      checkPositiveInteger('retainMs', retainMs);
      const time = clock();
      const lost = () => lostEntry(claim, entries.get(claim.key)?.fence);
      const entry = find(claim.key, time) ?? insert(claim.key, time, lost());
      lastFence = Math.max(lastFence, entry.fence);
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

    ...reportsInMemory(clock),

    jobs: jobsInMemory(() => Math.floor(now ? now() : Date.now()), maxEntries),
  });
}
