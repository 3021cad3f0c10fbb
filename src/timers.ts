/** The longest time a timer can wait for, in milliseconds. A longer one would fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Starts a timer that lets the process end, where the runtime supports that. */
export function unrefTimeout(call: () => void, ms: number): ReturnType<typeof setTimeout> {
  const timer = setTimeout(call, Math.min(ms, MAX_TIMER_MS));
  timer.unref?.();
  return timer;
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
