/** The time after which an answer is overdue: its signal is aborted then. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Resolves then. */
  readonly over: Promise<void>;
  /** Milliseconds until then; 0 when it has passed. */
  remaining(): number;
  /** Nobody waits any more: it does not come, and the process may end. */
  clear(): void;
}

/** What a timer can wait for; above it, it fires at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** The process does not end before it. By this one timer: each that keeps it costs as much as three others. */
export function createDeadline(ms: number): Deadline {
  const limit = Math.min(ms, MAX_TIMER_MS);
  const end = performance.now() + limit;
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout>;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(() => resolve(controller.abort()), limit);
  });
  // The controller itself, with more on it: its signal is made when somebody looks, and costs as much as an HMAC.
  return Object.assign(controller, {
    over,
    remaining: () => Math.max(0, end - performance.now()),
    clear: () => clearTimeout(timer),
  });
}

/** Lets the process end although the timer runs, where the runtime has the notion. */
export function unref(timer: ReturnType<typeof setTimeout>): void {
  timer.unref?.();
}

/** The result of a call, or a rejection when it does not come within `ms`. What comes later is dropped. */
export function within<T>(ms: number, call: () => T | PromiseLike<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const result = Promise.resolve(call());
    const timer = setTimeout(() => reject(new Error('timeout')), ms);
    unref(timer);
    result.then(resolve, reject).then(() => clearTimeout(timer));
  });
}
