import { setImmediate } from 'node:timers/promises';
import { type DedupeStore, memoryStore } from 'service-webhooks';
import { storeSuite } from 'service-webhooks-suites';
import { describe, it } from 'vitest';

describe('storeSuite in real time, on a store whose calls take time', () => {
  const cases = storeSuite({ make: () => ({ store: slow(memoryStore()) }), rounds: 5 });
  for (const { name, skip, run } of cases) it.skipIf(skip)(name, run);
});

/** Every call waits for the event loop before and after, so that calls overlap as they do over a network. */
function slow(store: DedupeStore): DedupeStore {
  const delayed = <A extends unknown[], R>(call: (...args: A) => Promise<R>) => {
    return async (...args: A): Promise<R> => {
      await setImmediate();
      const result = await call(...args);
      await setImmediate();
      return result;
    };
  };
  return {
    ...store,
    claim: delayed(store.claim),
    extend: delayed(store.extend),
    complete: delayed(store.complete),
    release: delayed(store.release),
  };
}
