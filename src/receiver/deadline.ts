import { MAX_TIMER_MS } from '../timers.js';

/** The longest time that a slow body may hold its connection. */
const BODY_LIMIT_MS = 10_000;

/** The time by which a request must be answered. */
export interface Deadline {
  /** The whole time, in milliseconds. */
  readonly ms: number;
  /** Returns the signal that is aborted when the deadline passes, made by the first call. */
  signal(): AbortSignal;
  /** Returns the milliseconds until then; 0 after it has passed. */
  remaining(): number;
  /** Calls `late` when the body should have arrived: after 10 s, or at the deadline where that is sooner. */
  whenBodyIsLate(late: () => void): void;
  /** Calls `late` when the deadline passes, and at once where it has. */
  whenPassed(late: () => void): void;
  /** Stops the timer: the answer is decided, and the deadline passes no more. */
  clear(): void;
}

/**
 * Starts the deadline of one request. It has one timer, first for the body and then for the rest, which keeps the process
 * alive, so that the sender gets an answer.
 */
export function startDeadline(ms: number): Deadline {
  const limitMs = Math.min(ms, MAX_TIMER_MS);
  const end = performance.now() + limitMs;
  let controller: AbortController | undefined;
  let hasPassed = false;
  let bodyIsLate = () => {};
  let isLate = () => {};
  let timer = limitMs > BODY_LIMIT_MS ? setTimeout(endBody, BODY_LIMIT_MS) : setTimeout(pass, limitMs);

  const remaining = () => Math.max(0, end - performance.now());

  function endBody(): void {
    timer = setTimeout(pass, remaining());
    bodyIsLate();
  }

  function pass(): void {
    hasPassed = true;
    controller?.abort();
    bodyIsLate();
    isLate();
  }

  return {
    ms,
    signal() {
      controller ??= new AbortController();
      if (hasPassed) controller.abort();
      return controller.signal;
    },
    remaining,
    whenBodyIsLate(late) {
      bodyIsLate = late;
    },
    whenPassed(late) {
      if (hasPassed) late();
      else isLate = late;
    },
    clear: () => clearTimeout(timer),
  };
}
