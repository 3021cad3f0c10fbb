import { configDefaults, defineConfig } from 'vitest/config';
import base from './vitest.config.js';

// What runs as a program of its own: the command line, the page in Chromium, the examples and what else is built first,
// the code of the documentation.
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: [
      'test/cli/**/*.test.ts',
      'test/page/in-browser/**/*.test.ts',
      'test/examples/**/*.test.ts',
      'test/adapters/next.test.ts',
      'test/readme.test.ts',
    ],
    exclude: configDefaults.exclude,
    globalSetup: ['test/page/in-browser/launch.ts'],
    reporters: ['default'],
  },
});
