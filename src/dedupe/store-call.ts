import type { DedupeStore } from '../stores/contract.js';
import { isInMemory } from '../stores/in-memory.js';
import { withTimeout } from '../timers.js';

/** The longest time that a call of the store may take. */
export const STORE_TIMEOUT_MS = 2_000;

/** Makes a call of a store, which rejects at its time limit. A store that answers from memory needs none. */
export function callStore<T>(store: DedupeStore, call: () => Promise<T>, limitMs = STORE_TIMEOUT_MS): Promise<T> {
  return isInMemory(store) ? call() : withTimeout(limitMs, call);
}
