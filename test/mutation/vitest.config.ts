import { readFileSync } from 'node:fs';
import { configDefaults, defineConfig } from 'vitest/config';
import base from '../../vitest.config.js';

/** Each change of the source runs those of them that reach it. */
const { TESTS = 'quick-tests.json' } = process.env;
const include: string[] = JSON.parse(readFileSync(new URL(TESTS, import.meta.url), 'utf8'));

export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include,
    // The list says it all, whatever other configurations leave to each other.
    exclude: configDefaults.exclude,
    globalSetup: include.some((test) => test.includes('/in-browser/')) ? ['test/page/in-browser/launch.ts'] : [],
    // Many a change makes a test wait for ever.
    testTimeout: 5_000,
    typecheck: { enabled: false },
    // The command line in this process, where a change of its source can be seen.
    env: { CLI: 'inside' },
  },
});
