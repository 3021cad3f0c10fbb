import { MAX_TIMER_MS } from '../timers.js';

/** The time by which a request must be answered. */
export interface Deadline {
  /** The whole time, in milliseconds. */
  readonly ms: number;
  /** Aborted when the deadline passes. */
  readonly signal: AbortSignal;
  /** Resolves when the deadline passes; never, if it is cleared before. */
  readonly passed: Promise<'passed'>;
  /** Returns the milliseconds until then; 0 after it has passed. */
  remaining(): number;
  /** Stops the timer: the answer is decided, and the signal is no longer aborted. */
  clear(): void;
}

/** Starts the deadline of one request. Its timer keeps the process alive, so that the sender gets an answer. */
export function startDeadline(ms: number): Deadline {
  const limit = Math.min(ms, MAX_TIMER_MS);
  const end = performance.now() + limit;
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const passed = new Promise<'passed'>((resolve) => {
    timer = setTimeout(() => {
      controller.abort();
      resolve('passed');
    }, limit);
  });
  return {
    ms,
    signal: controller.signal,
    passed,
    remaining: () => Math.max(0, end - performance.now()),
    clear: () => clearTimeout(timer),
  };
}
