import { afterEach, vi } from 'vitest';

// The files of a worker share its process: what a test has put in the place of something is gone before the next file.
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
  vi.useRealTimers();
});
