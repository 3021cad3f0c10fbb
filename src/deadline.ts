/** What a timer can wait for; above it, it fires at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * The time after which an answer is overdue: its signal is aborted then. A controller itself, which makes its signal
 * when somebody looks: that costs as much as an HMAC.
 */
export class Deadline extends AbortController {
  /** Whether it has passed. */
  over = false;
  /** Called when it passes. */
  late: (() => void) | undefined;
  readonly #end: number;
  readonly #timer: ReturnType<typeof setTimeout>;

  /** The process does not end before it. By this one timer: each that keeps it costs as much as three others. */
  constructor(ms: number) {
    super();
    const limit = Math.min(ms, MAX_TIMER_MS);
    this.#end = performance.now() + limit;
    this.#timer = setTimeout(() => {
      this.over = true;
      this.abort();
      this.late?.();
    }, limit);
  }

  /** Milliseconds until then; 0 when it has passed. */
  remaining(): number {
    return Math.max(0, this.#end - performance.now());
  }

  /** Nobody waits any more: it does not come, and the process may end. */
  clear(): void {
    clearTimeout(this.#timer);
  }
}

/** A timer that lets the process end, where the runtime has the notion. */
export function later(call: () => void, ms: number): ReturnType<typeof setTimeout> {
  const timer = setTimeout(call, ms);
  timer.unref?.();
  return timer;
}

/** The result of a call, or a rejection when it does not come within `ms`. What comes later is dropped. */
export function within<T>(ms: number, call: () => T | PromiseLike<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const result = Promise.resolve(call());
    const timer = later(() => reject(new Error('timeout')), ms);
    result.then(resolve, reject).then(() => clearTimeout(timer));
  });
}
