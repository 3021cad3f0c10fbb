/** The longest time a timer can wait for, in milliseconds. A longer one would fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Starts a timer that lets the process end, where the runtime supports that. */
export function unrefTimeout(call: () => void, ms: number): ReturnType<typeof setTimeout> {
  const timer = setTimeout(call, Math.min(ms, MAX_TIMER_MS));
  timer.unref?.();
  return timer;
}

/** Measures the time from now on, in milliseconds. The monotonic clock stands still while the machine sleeps. */
export function stopwatch(): () => number {
  const [monotonic, wall] = [performance.now(), Date.now()];
  return () => Math.max(performance.now() - monotonic, Date.now() - wall);
}

/**
 * Resolves to the result of a call, or rejects when it does not come within `ms`; a later result is dropped. The timer lets
 * the process end: where nothing else keeps it alive, use {@link withTimeLimit}.
 */
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

/** After this time without an answer, a shared call is made again. */
const GIVEN_UP_MS = 60_000;

/**
 * Returns a function that makes a call, unless one is under way, whose answer it then shares: calls do not pile up on a
 * server that is slow. The promises of its callers reject when the call has lasted for `ms`.
 */
export function sharedCall<T>(ms: number, call: () => T | PromiseLike<T>): () => Promise<T> {
  let running: { answer: Promise<T>; elapsedMs: () => number } | undefined;
  return () => {
    if (running === undefined || running.elapsedMs() > GIVEN_UP_MS) {
      const own = { answer: (async () => call())(), elapsedMs: stopwatch() };
      running = own;
      const ended = () => {
        if (running === own) running = undefined;
      };
      own.answer.then(ended, ended);
    }
    const { answer, elapsedMs } = running;
    return withTimeout(Math.max(0, ms - elapsedMs()), () => answer);
  };
}

/**
 * Resolves after a number of milliseconds. Rejects with the reason of `signal` as soon as it is aborted. The timer keeps
 * the process alive.
 */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const slept = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.min(ms, MAX_TIMER_MS));
  });
  if (signal === undefined) return slept;
  await orAborted(slept, signal).finally(() => clearTimeout(timer));
}

/** The time limit of a task that takes a signal. */
export interface TaskLimit {
  /** In milliseconds. */
  ms: number;
  /** Returns the error to reject with when the time is over. */
  timedOut(): Error;
  /** The caller's own signal. When it is aborted, the task rejects with its reason. */
  signal?: AbortSignal | undefined;
}

/**
 * Returns the result of `run`. Rejects as soon as the time is over or the caller's signal is aborted, even where `run`
 * ignores the signal that it receives. The timer keeps the process alive.
 */
export async function withTimeLimit<T>(limit: TaskLimit, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { ms, timedOut, signal: caller } = limit;
  caller?.throwIfAborted();
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(timedOut()), Math.min(ms, MAX_TIMER_MS));
  const unfollow = caller && onAbort(caller, () => controller.abort(caller.reason));
  try {
    return await orAborted(run(controller.signal), controller.signal);
  } finally {
    clearTimeout(timer);
    unfollow?.();
  }
}

/** Returns the promise's result. Rejects with the signal's reason as soon as the signal is aborted. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const unfollow = onAbort(signal, () => reject(signal.reason));
    promise.then(resolve, reject).finally(unfollow);
  });
}

const followersOf = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `follower` when the signal is aborted, at once if it already is, and returns a function that undoes this. All
 * followers of a signal share one listener, because Node warns of a leak from the eleventh listener on.
 */
function onAbort(signal: AbortSignal, follower: () => void): () => void {
  if (signal.aborted) {
    follower();
    return () => {};
  }
  const followers = followersOf.get(signal) ?? listen(signal);
  followers.add(follower);
  return () => followers.delete(follower);
}

function listen(signal: AbortSignal): Set<() => void> {
  const followers = new Set<() => void>();
  signal.addEventListener('abort', () => {
    for (const follower of followers) follower();
  });
  followersOf.set(signal, followers);
  return followers;
}
