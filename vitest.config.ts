import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^service-webhooks$/, replacement: path('src/index.ts') },
      { find: /^service-webhooks\/((?:stores|testing)\/.+)$/, replacement: `${path('src')}/$1.ts` },
      {
        find: /^service-webhooks\/(testing|emulator|explain|client|diagnostics-channel|otel|standard-schema)$/,
        replacement: `${path('src')}/$1/index.ts`,
      },
      { find: /^service-webhooks\/(.+)$/, replacement: `${path('adapters')}/$1.ts` },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    // Each has a configuration and a script of its own.
    exclude: [
      ...configDefaults.exclude,
      'test/runtimes/**',
      'test/faults/**',
      'test/cli/**',
      'test/page/in-browser/**',
      'test/examples/**',
      'test/package/**',
      'test/adapters/next.test.ts',
      'test/readme.test.ts',
    ],
    // Most of the time is waiting for servers and leases: more at once than there are cores.
    maxWorkers: 3,
    // To import everything anew for every file takes a third of the time. So what a test changes in its process is put
    // back behind it.
    isolate: false,
    setupFiles: ['test/support/put-back.ts'],
    // A machine with other work to do is no reason to fail.
    testTimeout: 20_000,
    hookTimeout: 60_000,
    // What .ci/run counts.
    reporters: process.env['CI'] ? ['default', 'json'] : ['default'],
    outputFile: { json: 'coverage/results.json' },
    typecheck: { include: ['test/**/*.test-d.ts'] },
  },
});
