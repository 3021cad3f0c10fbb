/** The longest time a timer can wait for, in milliseconds. A longer one would fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Starts a timer that lets the process end, where the runtime supports that. */
export function unrefTimeout(call: () => void, ms: number): ReturnType<typeof setTimeout> {
  const timer = setTimeout(call, Math.min(ms, MAX_TIMER_MS));
  timer.unref?.();
  return timer;
}

/**
 * Resolves after `ms`, or as soon as the signal is aborted. Its timer keeps the process alive, because the caller has work
 * left to do.
 */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, Math.min(ms, MAX_TIMER_MS));
    signal?.addEventListener('abort', wake);
    if (signal?.aborted) wake();
  });
}

/** Measures the time from now on, in milliseconds. The monotonic clock stands still while the machine sleeps. */
export function stopwatch(): () => number {
  const [monotonic, wall] = [performance.now(), Date.now()];
  return () => Math.max(performance.now() - monotonic, Date.now() - wall);
}

/** Resolves to the result of a call, or rejects when it does not come within `ms`; a later result is dropped. */
export function withTimeout<T>(
  ms: number,
  call: () => T | PromiseLike<T>,
  error: () => Error = () => new Error(`no answer within ${Math.round(ms)} ms`),
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = unrefTimeout(() => reject(error()), ms);
    const settleBy = (settle: (value: T) => void) => (value: T) => {
      clearTimeout(timer);
      settle(value);
    };
    new Promise<T>((settle) => settle(call())).then(settleBy(resolve), settleBy(reject));
  });
}
