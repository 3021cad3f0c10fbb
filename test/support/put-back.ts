import { afterEach, vi } from 'vitest';

// The files of a worker share its process: what a test has put in the place of something is gone before the next file.
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

// Receivers log to the console unless a test says otherwise, so that a run would print thousands of lines. What is
// printed in the last moment of a run would also fail it: the worker waits for no line.
const quiet = Symbol.for('service-webhooks.tests.quiet');
const world = globalThis as { [quiet]?: true };
if (!world[quiet]) {
  world[quiet] = true;
  for (const level of ['warn', 'error'] as const) {
    const print = console[level];
    console[level] = (...args: unknown[]) => {
      if (!String(args[0]).startsWith('service-webhooks: ')) print(...args);
    };
  }
}
