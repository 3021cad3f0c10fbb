/**
 * How `vi.waitFor` and `vi.waitUntil` wait for what must happen, as `expect.poll` does by the configuration. A test that
 * hangs fails by it, and one on a machine with other work to do passes.
 */
export const PATIENTLY = { timeout: 120_000 };
