import { MAX_TIMER_MS } from '../deadline.js';
import { onAbort, orAborted } from './abort.js';

/** How long a call may take, all in all. */
export interface TimeLimit {
  /** Milliseconds. */
  ms: number;
  /** What it rejects with when they are over. */
  timedOut(): Error;
  /** The caller's own, whose reason it rejects with. */
  signal: AbortSignal | undefined;
}

/**
 * The result of `run`, or a rejection as soon as the time is over or the caller's signal is aborted, whether or not what
 * runs heeds the signal that it is given.
 */
export async function withTimeLimit<T>(limit: TimeLimit, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { ms, timedOut, signal: caller } = limit;
  caller?.throwIfAborted();
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(timedOut()), Math.min(ms, MAX_TIMER_MS));
  const forget = caller && onAbort(caller, () => controller.abort(caller.reason));
  try {
    return await orAborted(run(controller.signal), controller.signal);
  } finally {
    clearTimeout(timer);
    forget?.();
  }
}

/** Resolves after so many milliseconds, or rejects with the reason when the signal is aborted. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const slept = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.min(ms, MAX_TIMER_MS));
  });
  await orAborted(slept, signal).finally(() => clearTimeout(timer));
}
