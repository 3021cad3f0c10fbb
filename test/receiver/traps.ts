import type { Handler } from 'service-webhooks';
import { onTestFinished, vi } from 'vitest';

export const throwing = (): never => {
  throw new Error('a trap');
};

/** An object, or a function, that throws at whatever is done with it. */
export const trapped = (target: object = {}): object =>
  new Proxy(target, {
    get: throwing,
    has: throwing,
    set: throwing,
    ownKeys: throwing,
    getPrototypeOf: throwing,
    getOwnPropertyDescriptor: throwing,
    defineProperty: throwing,
    isExtensible: throwing,
    apply: throwing,
  });

/** A handler for every event, which may do what types do not allow. */
export const handlerOf = (does: () => unknown) => ({ '*': does as () => ReturnType<Handler> });

/** A handler that throws this for every event. */
export const failing = (thrown: unknown) =>
  handlerOf(() => {
    throw thrown;
  });

/** Counts the abort controllers that are made until the test has ended. */
export function countingControllers(): { count: number } {
  const made = { count: 0 };
  class CountedController extends AbortController {
    constructor() {
      super();
      made.count += 1;
    }
  }
  vi.stubGlobal('AbortController', CountedController);
  onTestFinished(() => {
    vi.unstubAllGlobals();
  });
  return made;
}
