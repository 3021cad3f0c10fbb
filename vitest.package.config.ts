import { configDefaults, defineConfig } from 'vitest/config';
import base from './vitest.config.js';

// The package as users get it: packed from what `npm run build` made, and installed in projects of their kinds.
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: ['test/package/*.test.ts'],
    exclude: configDefaults.exclude,
    globalSetup: ['test/package/pack.ts'],
    // A compiler, a bundler or an application each.
    testTimeout: 300_000,
    maxWorkers: 2,
    reporters: ['default'],
  },
});
