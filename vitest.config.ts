import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { allSubpaths } from './scripts/subpaths.js';
import { MissingPartsReporter } from './test/support/missing-parts-reporter.js';
import { PATIENTLY } from './test/support/patiently.js';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** What every project shares, also the runs of Stryker. */
export const shared = {
  resolve: {
    alias: allSubpaths.map(({ name, source }) => ({
      find: new RegExp(`^${name}$`),
      replacement: path(source),
    })),
  },
  test: {
    // Most of the time is waiting for servers and leases: more at once than there are cores.
    maxWorkers: 4,
    // To import everything again for every file takes a third of the time. So what a test changes in its process is put
    // back after it.
    isolate: false,
    setupFiles: [path('test/support/put-back.ts')],
    // A test that hangs fails, and a machine with other work to do for a minute is no reason to fail: a test waits for one
    // step at most half of its own time.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: PATIENTLY },
  },
};

/** The test files of a folder, by their paths in the repository. */
export const testFilesIn = (folder: string): string[] =>
  readdirSync(path(folder), { withFileTypes: true }).flatMap((entry) => {
    const name = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return ['dist', 'node_modules'].includes(entry.name) ? [] : testFilesIn(name);
    return /\.test(-d)?\.ts$/.test(name) ? [name] : [];
  });

/** What a test file calls that replaces the clock, a global or the modules of its process, or reads its memory or warnings. */
const CHANGES_PROCESS =
  /useFakeTimers|simulate\(|stubGlobal|resetModules|memoryUsage\(|setFlagsFromString|process\.on\('warning'/;

/**
 * The files that change or measure their process have one of their own. Other files leave timers and sockets behind, which
 * would run on the replaced clock, fail without the global, and count in the memory.
 */
const OWN_PROCESS = [...testFilesIn('test'), ...testFilesIn('packages')].filter((file) =>
  CHANGES_PROCESS.test(readFileSync(path(file), 'utf8')),
);

type Project = { name: string; include: string[]; exclude?: string[] } & TestProjectInlineConfiguration['test'];

// The command line, the page in Chromium, the examples, the documentation's code and site: each is built or started first.
const PROGRAMS = [
  'packages/cli/test/*.test.ts',
  'packages/cli/test/commands/**/*.test.ts',
  'packages/cli/test/page/in-browser/**/*.test.ts',
  'test/examples/**/*.test.ts',
  'test/adapters/next.test.ts',
  'test/docs/alerts-on-prometheus.test.ts',
  'test/docs/docstrings.test.ts',
  'test/readme.test.ts',
  'test/site/**/*.test.ts',
  'test/newcomer/**/*.test.ts',
];

const NOT_LIBRARY = [
  ...PROGRAMS,
  'test/package/**',
  'test/faults/**',
  'test/queue/processes.test.ts',
  'test/runtimes/**',
];

/** `npm test` runs `library` and `own-process`; the others run by `vitest run --project <name>`. */
export const projects: readonly Project[] = [
  {
    name: 'library',
    include: ['test/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
    exclude: [...NOT_LIBRARY, ...OWN_PROCESS],
  },
  { name: 'own-process', include: OWN_PROCESS, exclude: NOT_LIBRARY, isolate: true },
  {
    name: 'types',
    include: [],
    typecheck: { enabled: true, only: true, include: ['test/**/*.test-d.ts', 'packages/*/test/**/*.test-d.ts'] },
  },
  {
    name: 'programs',
    include: PROGRAMS,
    hookTimeout: 600_000, // an app or the site is built, on a machine with other work to do for minutes
    globalSetup: ['packages/cli/test/support/build-programs.ts', 'packages/cli/test/page/in-browser/launch.ts'],
  },
  {
    // The package as its users get it: packed from `npm run build` and installed in projects of their kinds.
    name: 'package',
    include: ['test/package/*.test.ts'],
    globalSetup: ['test/package/pack.ts'],
    testTimeout: 300_000, // a compiler, a bundler or an application each
    maxWorkers: 2,
  },
  // The vectors on every runtime. Each of the runtimes then runs `inside`.
  { name: 'runtimes', include: ['test/runtimes/*.test.ts'] },
];

/** These run files of `library` in another way, so they exist only where `--project` names them. */
export const variants: readonly Project[] = [
  {
    // Receivers killed at random, histories of operations, the stores and the queues, with the numbers that take minutes.
    name: 'faults',
    include: [
      'test/faults/**/*.test.ts',
      'test/stores/**/*.test.ts',
      'packages/suites/test/stores/{suite,suite-in-real-time}.test.ts',
      'packages/suites/test/simulation/apps.test.ts',
      'test/queue/processes.test.ts',
    ],
    isolate: true,
    env: { FAULTS: 'full' },
    testTimeout: 900_000, // minutes each, and more of them on a machine with other work to do
  },
  {
    name: 'inside',
    include: [
      'test/vectors.test.ts',
      'test/fixtures.test.ts',
      'test/adapters/**/*.test.ts',
      'packages/suites/test/adapters/{suite,wrong-answers}.test.ts',
      'test/runtimes/inside/*.test.ts',
    ],
    exclude: ['test/adapters/next.test.ts'], // an app that Next has built for Node
    setupFiles: [path('test/runtimes/inside/right-runtime.ts')],
  },
];

const named = variants.filter(({ name }) => process.argv.some((arg) => arg === name || arg === `--project=${name}`));

export default defineConfig({
  ...shared,
  test: {
    ...shared.test,
    // Receivers log to the console by default. What a test printed is shown if it fails.
    silent: 'passed-only',
    reporters: ['default', new MissingPartsReporter()],
    projects: [...projects, ...named].map(({ exclude = [], ...test }) => ({
      extends: true as const,
      test: { ...test, exclude: [...configDefaults.exclude, ...exclude] },
    })),
  },
});
