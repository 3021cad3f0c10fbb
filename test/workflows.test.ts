import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { validateAction, validateWorkflow } from '@action-validator/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PACKAGES } from '../scripts/subpaths.js';
import { hasProgram } from './integration/program.js';
import { ROOT } from './support/markdown.js';

const workflows = readdirSync(join(ROOT, '.github/workflows')).map((name) => `.github/workflows/${name}`);
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

describe('the published schema of GitHub workflows and actions', () => {
  it.each(workflows)('%s is valid by the schema of workflows', (path) => {
    expect(validateWorkflow(read(path)).errors).toEqual([]);
  });

  it('action.yml is valid by the schema of actions', () => {
    expect(validateAction(read('action.yml')).errors).toEqual([]);
  });

  it('a workflow without jobs and an action without a description are invalid', () => {
    expect(validateWorkflow('name: CI\non: push\n').errors).not.toEqual([]);
    expect(validateAction('name: doctor\nruns: { using: composite, steps: [] }\n').errors).not.toEqual([]);
  });
});

/** The jobs of a workflow, by name. */
function jobsOf(text: string): [name: string, job: string][] {
  const [, jobs = ''] = text.split(/^jobs:\n/m);
  return [...jobs.matchAll(/^ {2}([\w-]+):\n((?:(?: {4}.*)?\n)+)/gm)].map(([, name = '', job = '']) => [name, job]);
}

/** What a job with a right to write may use: nothing that brings code of the repository or of its packages. */
const ACTIONS_OF_PUBLISHERS = ['actions/setup-node', 'actions/download-artifact', 'actions/deploy-pages'];
const RUNS_PACKAGES = /\b(npm (?!publish\b)\w+|npx|node|pnpm|yarn|bun|deno)\s/;

describe.each([...workflows, 'action.yml'])('%s', (path) => {
  const text = read(path);

  it('every action is pinned to a commit', () => {
    for (const [, used = ''] of text.matchAll(/uses: (\S+)/g)) expect(used).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
  });

  it('every image is pinned to a digest', () => {
    for (const [, image = ''] of text.matchAll(/(?:container|image): (\S+)/g))
      expect(image).toMatch(/@sha256:[0-9a-f]{64}$/);
  });

  it('no step restores a cache, because another branch may have written it', () => {
    expect(text).not.toMatch(/actions\/cache|\bcache:/);
  });

  it('no script of a step has a GitHub expression, through which input could become code', () => {
    const scripts = [...text.matchAll(/run: (?:[|>]-?\n((?: {8,}.*\n|\n)+)|(.*))/g)].map(
      ([, block, line]) => block ?? line,
    );
    for (const script of scripts) expect(script).not.toContain('${{');
  });

  it('the npm scripts that run exist', () => {
    const { scripts } = JSON.parse(read('package.json'));
    for (const [, script = ''] of text.matchAll(/npm run ([\w:]+)/g)) expect(Object.keys(scripts)).toContain(script);
  });
});

describe.each(workflows)('%s', (path) => {
  const text = read(path);

  it('jobs may only read, unless a job says otherwise', () => {
    expect(text).toMatch(/^permissions: \{\}\n|^permissions:\n {2}contents: read\n\n/m);
    expect(text.split(/^jobs:/m)[0]).not.toContain('write');
  });

  it('no token stays in a checkout', () => {
    const checkouts = text.match(/uses: actions\/checkout@/g)?.length ?? 0;
    expect(text.match(/actions\/checkout@.*\n {8}with:\n {10}persist-credentials: false\n/g) ?? []).toHaveLength(
      checkouts,
    );
  });

  it('a job with a right to write runs no code of the repository or of its packages', () => {
    expect(jobsOf(text)).not.toEqual([]);
    for (const [name, job] of jobsOf(text)) {
      if (!/: write\b/.test(job)) continue;
      for (const [, used] of job.matchAll(/uses: ([\w/-]+)@/g)) expect(ACTIONS_OF_PUBLISHERS, name).toContain(used);
      expect(job.replaceAll(/ # .*/g, ''), name).not.toMatch(RUNS_PACKAGES);
    }
  });

  it('a concurrency group is set, so that runs do not overlap', () => {
    expect(text).toMatch(/^concurrency:\n {2}group: /m);
  });
});

it('CI runs the two commands of the README on every supported line of Node', () => {
  const ci = read('.github/workflows/ci.yml');
  expect(ci).toContain("node: ['20', '22', '24', '26']");
  const [, commands = ''] = /```sh\n(npm ci && npm run demo\n.*)\n```/.exec(read('README.md')) ?? [];
  for (const command of commands.split('\n')) expect(ci).toContain(`- run: ${command}\n`);
  expect(ci).toContain('- run: .ci/run\n');
});

it('the site is built for the address that GitHub Pages gives it', () => {
  const site = read('.github/workflows/site.yml');
  expect(site).toMatch(/id: pages\n +uses: actions\/configure-pages@/);
  expect(site).toMatch(/npm run docs:build\n +env:\n +SITE_URL: \$\{\{ steps\.pages\.outputs\.base_url \}\}\n/);
});

describe('the release workflow', () => {
  const release = read('.github/workflows/release.yml');
  const jobs = new Map(jobsOf(release));
  const publish = jobs.get('publish') ?? '';

  it('packages are published with provenance and without a token', () => {
    expect(publish).toContain('id-token: write');
    expect(publish).toMatch(/npm publish "\.\/packed\/\$name-\$\{GITHUB_REF_NAME#v\}\.tgz" .*--provenance/);
    expect(release).not.toMatch(/NODE_AUTH_TOKEN|secrets\./);
  });

  it('the published files are checked and packed by a job without the right to publish', () => {
    const pack = jobs.get('pack') ?? '';
    expect(pack).toMatch(/npm ci --ignore-scripts[\s\S]+npm run prepublishOnly[\s\S]+npm pack [\s\S]+upload-artifact/);
    expect(pack).toContain(`npm pack ${PACKAGES.join(' ./')}\n`);
    expect(pack).not.toContain('write');
    expect(publish).toMatch(/needs: pack\n[\s\S]+download-artifact[\s\S]+npm publish .*--ignore-scripts/);
  });

  it('every package is checked and published after those that it needs', () => {
    const manifests = PACKAGES.map((folder) => JSON.parse(read(`${folder}/package.json`)));
    const names: string[] = manifests.map(({ name }) => name);
    const lists = [...publish.matchAll(/for name in (.*); do/g)].map(([, list = '']) => list.split(' '));
    expect(lists).toHaveLength(2);
    for (const list of lists) {
      expect(list.toSorted()).toEqual(names.toSorted());
      for (const { name, dependencies, peerDependencies } of manifests) {
        const needed = Object.keys({ ...dependencies, ...peerDependencies }).filter((each) => names.includes(each));
        expect(list.slice(0, list.indexOf(name))).toEqual(expect.arrayContaining(needed));
      }
    }
  });

  it.runIf(hasProgram('jq')).each([
    ['v1.2.3', 'service-webhooks', {}, 'passes'],
    ['v1.2.4', 'service-webhooks', {}, 'fails'],
    ['1.2.3', 'service-webhooks', {}, 'fails'],
    ['v1.2.3', 'service-webhooks', { name: 'another' }, 'fails'],
    ['v1.2.3', 'service-webhooks-cli', { version: '1.2.2' }, 'fails'],
    ['v1.2.3', 'service-webhooks-suites', { publishConfig: { registry: 'https://registry.evil.test' } }, 'fails'],
  ])('the check of the tag %s, where package.json of %s has %j, %s', (tag, changed, fields, verdict) => {
    const [, command = ''] = /run: \|\n((?: {10}.*\n)+)/.exec(publish) ?? [];
    const folder = mkdtempSync(join(tmpdir(), 'release-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    for (const name of ['package', 'packed']) mkdirSync(join(folder, name));
    for (const place of PACKAGES) {
      const { name } = JSON.parse(read(`${place}/package.json`));
      const manifest = { name, version: '1.2.3', ...(name === changed && fields) };
      writeFileSync(join(folder, 'package/package.json'), JSON.stringify(manifest));
      spawnSync('tar', ['-czf', `packed/${name}-1.2.3.tgz`, 'package'], { cwd: folder });
    }
    const env = { PATH: process.env['PATH'], GITHUB_REF_NAME: tag };
    expect(command).not.toBe('');
    const { status } = spawnSync('bash', ['-e', '-c', command], { cwd: folder, env });
    expect(status === 0 ? 'passes' : 'fails').toBe(verdict);
  });
});

describe('the doctor action', () => {
  const action = read('action.yml');

  it('the default version is that of the command line package', () => {
    const { version } = JSON.parse(read('packages/cli/package.json'));
    expect(action).toContain(`    description: The version of service-webhooks-cli on npm.\n    default: ${version}\n`);
  });

  it('the command line is installed without install scripts', () => {
    expect(action).toMatch(/npx --yes --ignore-scripts "service-webhooks-cli@\$\{DOCTOR_VERSION:\?\}" doctor/);
  });
});
