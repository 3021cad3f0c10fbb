import type { DedupeStore } from './contract.js';

/** The memory stores themselves. A store that is built on one may wait for something else, and is not among them. */
const memoryStores = new WeakSet<DedupeStore>();

/** Marks a store that answers from the memory of this process. */
export function markInMemory(store: DedupeStore): DedupeStore {
  memoryStores.add(store);
  return store;
}

/** Returns whether a store answers from the memory of this process, so that its calls need no time limit. */
export function isInMemory(store: DedupeStore): boolean {
  return memoryStores.has(store);
}
