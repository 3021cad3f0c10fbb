/** A point in time after which an answer is overdue. */
export interface Deadline {
  /** Milliseconds until then; 0 when it has passed. */
  remaining(): number;
  /** Resolves when it passes, unless it was cleared. Never keeps the process alive. */
  passed(): Promise<undefined>;
  clear(): void;
  /** Aborted when it passes, if somebody waits for that. */
  readonly signal: AbortSignal;
}

/** What a timer can wait for; above it, it fires at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

export function createDeadline(ms: number): Deadline {
  const end = performance.now() + Math.min(ms, MAX_TIMER_MS);
  const controller = new AbortController();
  const remaining = () => Math.max(0, end - performance.now());
  let timer: ReturnType<typeof setTimeout>;
  return {
    remaining,
    passed: () =>
      new Promise((resolve) => {
        timer = setTimeout(() => {
          controller.abort();
          resolve(undefined);
        }, remaining());
        unref(timer);
      }),
    clear: () => clearTimeout(timer),
    get signal() {
      return controller.signal; // a getter, since a signal is only made when somebody looks
    },
  };
}

/** Lets the process end although the timer runs, where the runtime has the notion. */
export function unref(timer: ReturnType<typeof setTimeout>): void {
  timer.unref?.();
}

/** The result of a call, or a rejection when it does not come within `ms`. What comes later is dropped. */
export function within<T>(ms: number, call: () => T | PromiseLike<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('no answer in time')), ms);
    // In a then, so that a synchronous throw is a rejection as well.
    Promise.resolve()
      .then(call)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}
