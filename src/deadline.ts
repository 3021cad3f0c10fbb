/** A point in time after which an answer is overdue. Whoever meets it aborts: the signal is made when somebody looks. */
export interface Deadline extends AbortController {
  /** Milliseconds until then; 0 when it has passed. */
  remaining(): number;
}

/** What a timer can wait for; above it, it fires at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

export function createDeadline(ms: number): Deadline {
  const end = performance.now() + Math.min(ms, MAX_TIMER_MS);
  return Object.assign(new AbortController(), { remaining: () => Math.max(0, end - performance.now()) });
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
