import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^service-webhooks$/, replacement: path('src/index.ts') },
      { find: /^service-webhooks\/(stores\/.+)$/, replacement: `${path('src')}/$1.ts` },
      { find: /^service-webhooks\/(testing|emulator)$/, replacement: `${path('src')}/$1/index.ts` },
      { find: /^service-webhooks\/(.+)$/, replacement: `${path('adapters')}/$1.ts` },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    restoreMocks: true,
    // What .ci/run counts.
    reporters: process.env['CI'] ? ['default', ['json', { outputFile: 'coverage/results.json' }]] : ['default'],
    typecheck: { enabled: true, include: ['test/**/*.test-d.ts'] },
  },
});
