import { orAborted } from '../timers.js';
import type { ReadyOptions } from './options.js';
import { DAY_MS, type RateState } from './rate-limits.js';

/** How long a request may wait in the limiter. */
export interface Patience {
  /** In milliseconds since the epoch. */
  deadline: number;
  /** Returns the error to reject with where the wait of `ms` would go past the deadline. */
  tooLong(ms: number): Error;
  signal: AbortSignal;
}

/**
 * Records what the answer to a request said: its rate-limit headers, and for how many milliseconds the service refuses
 * further requests. It must be called once for each request, also for one that failed.
 */
export type RecordAnswer = (rate: RateState | undefined, blockedMs: number | undefined) => void;

/** Resolves when a request may be sent. */
export type WaitForTurn = (patience: Patience) => Promise<RecordAnswer>;

interface Window {
  /** The number of requests in a whole window. */
  limit: number;
  /** The number of requests left, as the service last reported it. */
  left: number;
  /** In milliseconds since the epoch; undefined until the first answer of a new window. */
  resetAt: number | undefined;
}

/** Length of the per-minute window. */
const WINDOW_MS = 60_000;

/** Sends requests while the rate-limit window has requests left, and delays the others until the next window. */
export function createLimiter({ now, sleep }: Pick<ReadyOptions, 'now' | 'sleep'>): WaitForTurn {
  let window: Window | undefined;
  /** Requests of this window without an answer, which the service may not have counted yet. */
  let inFlight = new Set<object>();
  let announceAnswer = () => {};
  let nextAnswer = awaitAnswer();

  function awaitAnswer(): Promise<void> {
    return new Promise((resolve) => {
      announceAnswer = resolve;
    });
  }

  function startDueWindow(): void {
    if (window?.resetAt === undefined) return;
    const ms = window.resetAt - now();
    // A window cannot be longer than a day: if it seems longer, the clock was set back.
    if (ms > 0 && ms <= DAY_MS) return;
    window = { ...window, left: window.limit, resetAt: undefined };
    inFlight = new Set();
  }

  /** While no window is known, a single request goes first to learn about it. */
  function hasRoom(): boolean {
    return window === undefined ? inFlight.size === 0 : window.left > inFlight.size;
  }

  async function waitForChange({ deadline, tooLong, signal }: Patience): Promise<void> {
    if (window?.resetAt === undefined) return orAborted(nextAnswer, signal);
    const ms = window.resetAt - now();
    if (inFlight.size === 0 && window.resetAt >= deadline) throw tooLong(ms);
    const answered = new AbortController();
    const reset = sleep(ms, AbortSignal.any([signal, answered.signal]));
    await Promise.race([reset, nextAnswer]).finally(() => answered.abort());
  }

  return async (patience) => {
    for (startDueWindow(); !hasRoom(); startDueWindow()) await waitForChange(patience);
    const request = {};
    inFlight.add(request);
    return (rate, blockedMs) => {
      inFlight.delete(request);
      if (blockedMs !== undefined) window = { limit: window?.limit ?? 1, left: 0, resetAt: now() + blockedMs };
      window = updated(window, rate, now());
      announceAnswer();
      nextAnswer = awaitAnswer();
    };
  };
}

/** Answers may arrive out of order: within one window, the smallest number of requests left counts. */
function updated(window: Window | undefined, rate: RateState | undefined, now: number): Window | undefined {
  const { limit = 0, remaining, resetAt: reset = 0 } = rate ?? {};
  if (limit === 0 || remaining === undefined || reset <= now) return window;
  const resetAt = Math.min(reset, now + WINDOW_MS);
  if (window?.resetAt === undefined || resetAt > window.resetAt) return { limit, left: remaining, resetAt };
  return { limit, left: Math.min(window.left, remaining), resetAt: window.resetAt };
}
