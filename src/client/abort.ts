const stopsOf = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `stop` when the signal is aborted; at once where it is already. Gives what takes it back. However many follow a
 * signal, it has one listener: with more than ten of them Node warns of a leak.
 */
export function onAbort(signal: AbortSignal, stop: () => void): () => void {
  if (signal.aborted) {
    stop();
    return () => {};
  }
  const stops = stopsOf.get(signal) ?? follow(signal);
  stops.add(stop);
  return () => stops.delete(stop);
}

/** The result of a promise, or a rejection with the signal's reason as soon as that is aborted. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const forget = onAbort(signal, () => reject(signal.reason));
    promise.then(resolve, reject).finally(forget);
  });
}

function follow(signal: AbortSignal): Set<() => void> {
  const stops = new Set<() => void>();
  const stopAll = () => {
    for (const stop of stops) stop();
  };
  signal.addEventListener('abort', stopAll);
  stopsOf.set(signal, stops);
  return stops;
}
