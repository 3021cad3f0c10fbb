import { configDefaults, defineConfig } from 'vitest/config';
import base from './vitest.config.js';

// What `npm run test:runtimes` runs inside each runtime that vitest runs on.
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: [
      'test/vectors.test.ts',
      'test/fixtures.test.ts',
      'test/adapters/**/*.test.ts',
      'test/runtimes/inside/*.test.ts',
    ],
    exclude: [...configDefaults.exclude, 'test/adapters/next.test.ts'], // an app that Next has built for Node
    setupFiles: ['test/support/put-back.ts', 'test/runtimes/inside/right-runtime.ts'],
    reporters: ['default'],
  },
});
