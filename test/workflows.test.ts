import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isInstalled } from './integration/file-of.js';
import { ROOT } from './support/markdown.js';

/** What is used of @action-validator/core, which has the published schemas of workflows and actions. */
interface Validator {
  validateWorkflow(source: string): { errors: object[] };
  validateAction(source: string): { errors: object[] };
}

const FOLDER = 'test/integration/github';
const MODULE = join(ROOT, FOLDER, 'node_modules/@action-validator/core/action_validator.js');
const validator: Validator | undefined = isInstalled(FOLDER) ? await import(pathToFileURL(MODULE).href) : undefined;

const workflows = readdirSync(join(ROOT, '.github/workflows')).map((name) => `.github/workflows/${name}`);
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

describe.runIf(validator)('the published schema', () => {
  it.each(workflows)('accepts %s', (path) => {
    expect(validator?.validateWorkflow(read(path)).errors).toEqual([]);
  });

  it('accepts action.yml', () => {
    expect(validator?.validateAction(read('action.yml')).errors).toEqual([]);
  });

  it('refuses a workflow without jobs, and an action without a description', () => {
    expect(validator?.validateWorkflow('name: CI\non: push\n').errors).not.toEqual([]);
    expect(validator?.validateAction('name: doctor\nruns: { using: composite, steps: [] }\n').errors).not.toEqual([]);
  });
});

describe.each([...workflows, 'action.yml'])('%s', (path) => {
  const text = read(path);

  it('pins every action by its commit', () => {
    for (const [, used = ''] of text.matchAll(/uses: (\S+)/g)) expect(used).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
  });

  it('puts no expression into a script', () => {
    const scripts = [...text.matchAll(/run: (?:[|>]-?\n((?: {8,}.*\n|\n)+)|(.*))/g)].map(
      ([, block, line]) => block ?? line,
    );
    for (const script of scripts) expect(script).not.toContain('${{');
  });

  it('runs only npm scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json'));
    for (const [, script = ''] of text.matchAll(/npm run ([\w:]+)/g)) expect(Object.keys(scripts)).toContain(script);
  });
});

it('CI runs the two commands of the README on every supported line of Node', () => {
  const ci = read('.github/workflows/ci.yml');
  expect(ci).toContain("node: ['20', '22', '24', '26']");
  const [, commands = ''] = /```sh\n(npm ci && npm run demo\n.*)\n```/.exec(read('README.md')) ?? [];
  for (const command of commands.split('\n')) expect(ci).toContain(`- run: ${command}\n`);
  expect(ci).toContain('- run: .ci/run\n');
});

it('the release publishes with provenance and without a token', () => {
  const release = read('.github/workflows/release.yml');
  expect(release).toMatch(/npm publish --provenance/);
  expect(release).toContain('id-token: write');
  expect(release).not.toMatch(/NODE_AUTH_TOKEN|secrets\./);
});
