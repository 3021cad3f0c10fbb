import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { shared } from '../../vitest.config.js';

/** Each change of the source runs those of them that reach it. */
const { TESTS = 'quick-tests.json' } = process.env;
const include: string[] = JSON.parse(readFileSync(new URL(TESTS, import.meta.url), 'utf8'));

export default defineConfig({
  ...shared,
  test: {
    ...shared.test,
    include,
    globalSetup: include.some((test) => test.includes('/in-browser/'))
      ? ['packages/cli/test/support/build-programs.ts', 'packages/cli/test/page/in-browser/launch.ts']
      : [],
    // Many a change makes a test wait without end.
    testTimeout: 5_000,
    typecheck: { enabled: false },
    // The command line in this process, where a change of its source can be seen.
    env: { CLI: 'inside' },
  },
});
