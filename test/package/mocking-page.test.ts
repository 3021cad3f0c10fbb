import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../support/markdown.js';
import { isInstalled, makeConsumer } from './consumer.js';

const page = readFileSync(`${ROOT}docs/mocking.md`, 'utf8');
const installed = isInstalled('consumers');

/** The blocks of the page, by the name of the file with which the paragraph above ends. */
const files = Object.fromEntries(
  [...page.matchAll(/`([\w.]+)`:\n\n```\w+(?: no-run)?\n(.*?)^```$/gms)].map(([, name = '', code = '']) => [
    name,
    code,
  ]),
);

const programOf = (name: string, module: ts.ModuleKind) =>
  ts.transpileModule(files[name] ?? expect.fail(`the page has no ${name}`), {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module },
  }).outputText;

const pick = (...names: string[]) => Object.fromEntries(names.map((name) => [name, files[name] ?? '']));
const JEST = ['node_modules/jest/bin/jest.js', '--watchman=false'];

describe('the tests of docs/mocking.md', () => {
  it('the page names the file of each test', () => {
    expect(Object.keys(files).sort()).toEqual([
      'clock.test.ts',
      'mailer.ts',
      'observe.test.ts',
      'webhooks.test.js',
      'webhooks.test.mjs',
      'webhooks.test.ts',
      'webhooks.ts',
    ]);
  });

  it('the tests pass in Vitest', () => {
    const tests = ['webhooks.test.ts', 'clock.test.ts', 'observe.test.ts'];
    const project = makeConsumer({
      'package.json': '{ "private": true, "type": "module" }',
      ...pick('mailer.ts', 'webhooks.ts', ...tests),
    });
    symlinkSync(join(ROOT, 'node_modules/vitest'), join(project.folder, 'node_modules/vitest'), 'junction');
    const { status, output } = project.attempt([
      'node_modules/vitest/vitest.mjs',
      'run',
      '--reporter=json',
      '--outputFile=results.json',
    ]);
    expect(status, output).toBe(0);
    expect(JSON.parse(project.read('results.json'))).toMatchObject({ numPassedTests: 7, numTotalTests: 7 });
  });

  it.skipIf(!installed)('the CommonJS test passes in Jest without a setting', () => {
    const project = makeConsumer(
      {
        'mailer.js': programOf('mailer.ts', ts.ModuleKind.CommonJS),
        'webhooks.js': programOf('webhooks.ts', ts.ModuleKind.CommonJS),
        ...pick('webhooks.test.js'),
      },
      'consumers',
    );
    const { status, output } = project.attempt(JEST);
    expect(status, output).toBe(0);
    expect(output).toMatch(/Tests: +1 passed, 1 total/);
  });

  it.skipIf(!installed)('the test in ES modules passes in Jest', () => {
    const project = makeConsumer(
      {
        'package.json': '{ "private": true, "type": "module", "jest": { "testMatch": ["**/*.test.mjs"] } }',
        'mailer.js': programOf('mailer.ts', ts.ModuleKind.ESNext),
        'webhooks.js': programOf('webhooks.ts', ts.ModuleKind.ESNext),
        ...pick('webhooks.test.mjs'),
      },
      'consumers',
    );
    const { status, output } = project.attempt(JEST, { NODE_OPTIONS: '--experimental-vm-modules' });
    expect(status, output).toBe(0);
    expect(output).toMatch(/Tests: +1 passed, 1 total/);
  });
});
