import { configDefaults, defineConfig } from 'vitest/config';
import base from './vitest.config.js';

// The vectors on every runtime, and the adapters inside each that vitest runs on.
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: ['test/runtimes/*.test.ts'],
    exclude: configDefaults.exclude,
    reporters: ['verbose'],
  },
});
