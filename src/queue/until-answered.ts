import type { Log } from '../receiver/log.js';
import { reasonOf } from './reason.js';

const PAUSE_MS = 500;

/**
 * Repeats a call to an engine until it answers, since the result of a run is known only here. Rejects once `limitMs` is
 * over or the signal is aborted, when the engine gives the job to another worker.
 */
export async function untilAnswered<T>(
  call: () => Promise<T>,
  { log, limitMs, signal }: { log: Log; limitMs: number; signal?: AbortSignal | undefined },
): Promise<T> {
  const end = performance.now() + limitMs;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (performance.now() > end || signal?.aborted) throw error;
      log.warn('queue_error:settle', `The worker could not reach its engine, and tries again: ${reasonOf(error)}`);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}
