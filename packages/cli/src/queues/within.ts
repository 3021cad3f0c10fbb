import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves after some milliseconds, and rejects where the signal is aborted before. */
export type Pause = (ms: number, signal: AbortSignal) => Promise<unknown>;

export const realPause: Pause = (ms, signal) => sleep(ms, undefined, { signal });

/** Settles as a call does, or resolves when the time is over. */
export async function within(ms: number, call: Promise<unknown>, pause: Pause): Promise<void> {
  const over = new AbortController();
  try {
    await Promise.race([call, pause(ms, over.signal)]);
  } finally {
    over.abort();
  }
}
