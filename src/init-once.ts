import { withTimeout } from './timers.js';

/**
 * Returns a function that runs `init` once. After a failure, or when it took longer than `limitMs`, the next call runs it
 * again, next to the first run where that has not ended. Without `limitMs`, it waits for as long as `init` takes.
 */
export function initOnce(init: () => Promise<void> | undefined): (limitMs?: number) => Promise<void> {
  let ready: Promise<void> | undefined;
  return async (limitMs) => {
    ready ??= (async () => init())();
    const started = ready;
    try {
      await (limitMs === undefined ? started : withTimeout(limitMs, () => started));
    } catch (error) {
      if (ready === started) ready = undefined;
      throw error;
    }
  };
}
