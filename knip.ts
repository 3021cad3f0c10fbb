import type { KnipConfig } from 'knip';
import { subpaths } from './scripts/subpaths.js';

/** Unused files, exports and dependencies. Entries are what something starts or loads by its path. */
export default {
  workspaces: {
    '.': {
      entry: [
        ...subpaths.map(({ source }) => source),
        'scripts/evidence/soak-receiver.mjs',
        'scripts/bundle-sizes.mjs',
        'scripts/dashboard-picture.mjs',
        'scripts/packages.d.mts',
        'test/**/*.test-d.ts',
        'test/integration/*.mjs',
        'test/integration/next/{app,pages}/**/*.js',
        'test/integration/next/{instrumentation,next.config}.js',
        'test/examples/frameworks/*-host.mjs',
        'test/mutation/stryker.config.mjs',
        'test/mutation/vitest.config.ts',
        'test/faults/*-process.ts',
        'test/queue/queue-process.ts',
        'test/integration/workers/*.ts',
        'test/runtimes/inside/*.ts',
        'test/runtimes/programs/{node,bun,deno,workerd,workerd-suite,worker-receivers,worker-queue,worker-suite,worker-objects,worker-wait-until}.ts',
      ],
      // The first two run in scripts/check.mjs; the others are loaded by name.
      ignoreDependencies: ['@arethetypeswrong/cli', 'publint', 'libsql', 'next', 'prom-client'],
    },
    'packages/cli': {
      entry: ['src/explain/index.ts'],
    },
    'packages/*': {
      entry: ['src/index.ts'],
    },
  },
  // Started by hand or by tests, each by its path.
  ignoreWorkspaces: ['bench', 'examples/*'],
  ignoreExportsUsedInFile: { interface: true, type: true },
  ignore: ['test/integration/orms/{types.ts,generated/**,mysql/generated/**}', 'site/**', 'test/package/consumers/**'],
  ignoreBinaries: ['apt-get', 'mkfifo', 'script'],
} satisfies KnipConfig;
