import { sleep, withTimeLimit } from '../../timers.js';
import { must } from './define-suite.js';

const PAUSE_MS = 5;

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
  const limit = { ms: patienceMs, timedOut: () => new Error('hangs') };
  const found = await withTimeLimit(limit, () => ended).catch(() => 'hangs');
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
