import { orAborted } from './abort.js';
import type { ReadyOptions } from './options.js';
import type { RateState } from './rate.js';

/** Lets requests go as long as the window has room, and has the others wait for the next (specification, section 8.3). */
export interface Limiter {
  /** Resolves when a request may go, to what is to be told how it went. Rejects where that would be after `deadline`. */
  take(patience: Patience): Promise<(rate: RateState | undefined) => void>;
  /** The service says that nothing is left for so many milliseconds. */
  block(ms: number): void;
}

/** How long a request can wait. */
export interface Patience {
  /** In milliseconds since the epoch. */
  deadline: number;
  /** What to reject with. */
  tooLong(ms: number): Error;
  signal: AbortSignal;
}

/** Waits for nothing. */
export const noLimiter: Limiter = { take: async () => () => {}, block() {} };

interface Window {
  limit: number;
  /** Requests left when the service last said so. */
  left: number;
  /** Undefined until the first answer of a new window. */
  resetAt: number | undefined;
}

/** A window is never longer (section 8.3), however wrong a clock is. */
const WINDOW_MS = 60_000;

export function createLimiter({ now, sleep }: Pick<ReadyOptions, 'now' | 'sleep'>): Limiter {
  let window: Window | undefined;
  /** Requests of this window without an answer: the service may not have counted them yet. */
  let inFlight = new Set<object>();
  let wake = () => {};
  let nextAnswer = renew();

  function renew(): Promise<void> {
    wake();
    return new Promise((resolve) => {
      wake = resolve;
    });
  }

  function turn(): void {
    if (window?.resetAt === undefined || window.resetAt > now()) return;
    window = { ...window, left: window.limit, resetAt: undefined };
    inFlight = new Set();
  }

  /** Where nothing is known yet, one goes first to find out. */
  const hasRoom = () => (window === undefined ? inFlight.size === 0 : window.left > inFlight.size);

  async function waitForRoom({ deadline, tooLong, signal }: Patience): Promise<void> {
    if (window?.resetAt === undefined) return orAborted(nextAnswer, signal);
    const ms = window.resetAt - now();
    if (inFlight.size === 0 && now() + ms >= deadline) throw tooLong(ms);
    const answered = new AbortController();
    const reset = sleep(ms, AbortSignal.any([signal, answered.signal]));
    await Promise.race([reset, nextAnswer]).finally(() => answered.abort());
  }

  return {
    async take(patience) {
      for (turn(); !hasRoom(); turn()) await waitForRoom(patience);
      const request = {};
      inFlight.add(request);
      return (rate) => {
        inFlight.delete(request);
        window = latest(window, rate, now());
        nextAnswer = renew();
      };
    },
    block(ms) {
      window = { limit: window?.limit ?? 1, left: 0, resetAt: now() + ms };
    },
  };
}

/** Answers may come in another order than they were sent: in the same window, the least that was left counts. */
function latest(window: Window | undefined, rate: RateState | undefined, now: number): Window | undefined {
  const { limit = 0, remaining, resetAt: reset = 0 } = rate ?? {};
  if (limit === 0 || remaining === undefined || reset <= now) return window;
  const resetAt = Math.min(reset, now + WINDOW_MS);
  if (window?.resetAt === undefined || resetAt > window.resetAt) return { limit, left: remaining, resetAt };
  return { limit, left: Math.min(window.left, remaining), resetAt: window.resetAt };
}
