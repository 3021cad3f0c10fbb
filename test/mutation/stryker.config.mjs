// Run from the root by scripts/evidence/mutation.mjs, with the files to change as its arguments.
export default {
  testRunner: 'vitest',
  // All of them, so that what is not loaded is noticed.
  vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
  coverageAnalysis: 'perTest',
  concurrency: 2,
  timeoutMS: 20_000,
  reporters: ['progress', 'json'],
  jsonReporter: { fileName: '.tmp/mutation/report.json' },
  tempDirName: '.tmp/mutation/sandbox',
  // What the tests on the list need, and no more.
  ignorePatterns: [
    '/*',
    '!/src',
    '!/packages',
    '!/bench',
    '!/examples',
    '!/adapters',
    '!/test',
    '!/fixtures',
    '!/docs',
    '!/schemas',
    '!/sql',
    '!/package.json',
    '!/tsconfig.json',
    '!/tsup.config.ts',
    '!/vitest.config.ts',
    '!/scripts',
  ],
  allowEmpty: false,
};
