import { configDefaults, defineConfig } from 'vitest/config';
import base from './vitest.config.js';

// Receivers killed at random, histories of operations, and the stores, with the numbers that take minutes.
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: ['test/faults/**/*.test.ts', 'test/stores/**/*.test.ts'],
    exclude: configDefaults.exclude,
    reporters: ['default'],
    env: { FAULTS: 'full' },
  },
});
