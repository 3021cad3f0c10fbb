import { adapterSuite } from 'service-webhooks-suites';
import { describe, it } from 'vitest';
import type { Mount } from './mounts/mount.js';

/** Every case of the suite on every mount. What one cannot do is skipped with its reason in sight. */
export function runSuite(mounts: readonly Mount[]): void {
  if (mounts.length === 0)
    // biome-ignore lint/suspicious/noSkippedTests: a test file needs a test, also where its framework is missing
    describe.skip('adapterSuite, on a framework that is not installed', () =>
      it('no test runs without the framework', () => {}));
  for (const mount of mounts) {
    describe(`adapterSuite on ${mount.name}`, () => {
      for (const { name, skip, run } of adapterSuite(mount)) {
        it.skipIf(skip)(skip ? `${name} (${skip})` : name, run);
      }
    });
  }
}
