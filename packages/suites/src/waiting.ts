import { must } from './define-suite.js';

const PAUSE_MS = 5;
/** A timer that has to wait for longer fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Resolves after a number of milliseconds. Not every runtime that runs the suites has `node:timers/promises`. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Resolves to the result of a call, or rejects when the time is over. The timer keeps the process alive. */
export async function withTimeLimit<T>(ms: number, call: () => Promise<T>, timedOut: () => Error): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(timedOut()), Math.min(ms, MAX_TIMER_MS));
  });
  try {
    return await Promise.race([call(), over]);
  } finally {
    clearTimeout(timer);
  }
}

/** Repeats a call, also one that rejects, until its result holds. */
export async function until<T>(
  patienceMs: number,
  what: string,
  call: () => T | Promise<T>,
  holds: (value: T) => boolean = Boolean,
): Promise<T> {
  const end = performance.now() + patienceMs;
  for (;;) {
    const found = await Promise.resolve()
      .then(call)
      .then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      );
    if ('value' in found && holds(found.value)) return found.value;
    const seen = 'value' in found ? found.value : String(found.error);
    must(performance.now() < end, `${what}, within ${patienceMs} ms`, seen);
    await sleep(PAUSE_MS);
  }
}

/** Checks that a call rejects with an Error in time, as one to a server that cannot be reached does. */
export async function mustReject(patienceMs: number, what: string, call: () => Promise<unknown>): Promise<void> {
  const ended = call().then(
    () => 'answered',
    (error) => (error instanceof Error ? 'rejected' : 'rejected with no Error'),
  );
  const hangs = () => new Error('hangs');
  const found = await withTimeLimit(patienceMs, () => ended, hangs).catch(() => 'hangs');
  must(found === 'rejected', `${what} rejects with an Error`, found);
}

/** Returns a promise together with the function that resolves it. */
export function createGate(): { open: () => void; opened: Promise<void> } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}
