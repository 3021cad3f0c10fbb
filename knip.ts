import type { KnipConfig } from 'knip';
import { subpaths } from './scripts/subpaths.js';

/** Unused files, exports and dependencies. Entries are what something starts or loads by its path. */
export default {
  entry: [
    ...subpaths.map(({ source }) => source),
    'scripts/evidence/soak-receiver.mjs',
    'test/**/*.test-d.ts',
    'test/integration/*.mjs',
    'test/integration/next/{app,pages}/**/*.js',
    'test/integration/next/next.config.js',
    'test/examples/frameworks/*-host.mjs',
    'test/mutation/stryker.config.mjs',
    'test/mutation/vitest.config.ts',
    'test/faults/*-process.ts',
    'test/queue/queue-process.ts',
    'test/integration/workers/*.ts',
    'test/runtimes/inside/*.ts',
    'test/runtimes/programs/{node,bun,deno,workerd,workerd-suite,worker-receivers,worker-queue,worker-suite,worker-objects}.ts',
  ],
  ignoreExportsUsedInFile: { interface: true, type: true },
  ignore: [
    'bench/**',
    'examples/**',
    'test/integration/orms/types.ts',
    'site/**',
    'test/package/consumers/**',
    'test/integration/orms/types.ts',
  ],
  ignoreBinaries: ['apt-get', 'script'],
  // The first two run in scripts/check.mjs; the others are loaded by name.
  ignoreDependencies: ['@arethetypeswrong/cli', 'publint', 'libsql', 'prom-client'],
} satisfies KnipConfig;
