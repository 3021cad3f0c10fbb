import { MAX_TIMER_MS } from '../timers.js';

/** The time limit of a task. */
export interface TimeLimit {
  /** In milliseconds. */
  ms: number;
  /** Returns the error to reject with when the time is over. */
  timedOut(): Error;
  /** The caller's own signal. When it is aborted, the task rejects with its reason. */
  signal: AbortSignal | undefined;
}

/**
 * Returns the result of `run`. Rejects as soon as the time is over or the caller's signal is aborted, even where `run`
 * ignores the signal that it receives.
 */
export async function withTimeLimit<T>(limit: TimeLimit, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
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

/** Resolves after a number of milliseconds. Rejects with the signal's reason as soon as it is aborted. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const slept = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.min(ms, MAX_TIMER_MS));
  });
  await orAborted(slept, signal).finally(() => clearTimeout(timer));
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
