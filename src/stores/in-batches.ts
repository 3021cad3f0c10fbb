import { sleep } from '../timers.js';

/** The pause between two batches. */
const PAUSE_MS = 10;
/** A small batch, so that other work waits only briefly for it, and the log of a database stays small. */
const BATCH_ROWS = 250;

/** Calls `remove` with small limits, with pauses for other work, until nothing is left or the limit is reached. */
export async function inBatches(limit: number, remove: (limit: number) => Promise<number>): Promise<number> {
  for (let removed = 0; ; await sleep(PAUSE_MS)) {
    const rows = Math.min(BATCH_ROWS, limit - removed);
    const count = await remove(rows);
    removed += count;
    if (count < rows || removed >= limit) return removed;
  }
}
