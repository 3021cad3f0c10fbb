import { setTimeout as sleep } from 'node:timers/promises';

export interface Spread {
  /** The first one comes at once, and the others evenly until shortly before so many milliseconds are over. */
  overMs: number;
  /** Ends it by rejecting. */
  signal: AbortSignal;
  /** For tests. */
  pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
  now?: () => number;
}

/** Yields items over a time. What takes long between two of them does not move the ones that follow. */
export async function* spread<Item>(
  items: readonly Item[],
  { overMs, signal, pause = (ms) => sleep(ms, undefined, { signal }), now = () => performance.now() }: Spread,
): AsyncGenerator<Item> {
  const begun = now();
  for (const [index, item] of items.entries()) {
    const early = begun + (overMs * index) / items.length - now();
    if (early > 0) await pause(early, signal);
    signal.throwIfAborted();
    yield item;
  }
}
