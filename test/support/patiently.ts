/**
 * How `vi.waitFor` and `vi.waitUntil` wait for what must happen. A test that hangs fails by it, and one on a machine with
 * other work to do passes.
 */
export const PATIENTLY = { timeout: 15_000 };
