import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { linesWithCommentBehind, ROOT } from '../../../../../test/support/markdown.js';
import type { Step } from '../../../src/commands/init/next-steps.js';
import { FRAMEWORKS } from '../../../src/detect-project.js';
import { useCli } from '../../support/cli.js';
import { asked } from '../../support/watch-cli.js';
import { failed } from '../support.js';
import { runPrinted } from './starter-app.js';
import { addJest, emptyApp, hasJest, problemsOf } from './written-app.js';

const cli = useCli();
const DEPENDENCIES: Record<string, object> = {
  express: { express: '5' },
  hono: { hono: '4' },
  fastify: { fastify: '5' },
  nest: { '@nestjs/core': '11', express: '5' },
  next: { next: '16' },
  workers: { wrangler: '4', hono: '4' },
  node: {},
};
const DECORATORS = '{ "compilerOptions": { "experimentalDecorators": true } }';
const init = (folder: string, ...args: string[]) =>
  cli.shell(`cd ${folder} && service-webhooks init ${asked(args).join(' ')}`);
const written = (folder: string, path: string) => readFileSync(join(folder, path), 'utf8');

const flat = (text: string) => text.replace(/^ +/gm, '');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const [, HANDLERS_OF_README = expect.fail('README.md has no handlers')] =
  /^( {2}on: \{\n.*?^ {2}\},\n)/ms.exec(README)?.map(flat) ?? [];

const printedSteps = (records: readonly Record<string, unknown>[]) => (records.at(-1)?.['steps'] ?? []) as Step[];
const stepsOf = (records: readonly Record<string, unknown>[]) =>
  Object.fromEntries(printedSteps(records).map((step) => [step.step, step]));
const lineOf = (records: readonly Record<string, unknown>[], step: Step['step']) => stepsOf(records)[step]?.lines[0];

describe('what init writes', () => {
  const forms = FRAMEWORKS.flatMap((framework) =>
    ['module', 'commonjs'].flatMap((type) => [
      { framework, typescript: true, type },
      ...(framework === 'nest' ? [] : [{ framework, typescript: false, type }]),
    ]),
  );

  it.each(forms)(
    'the files for $framework ($type, TypeScript: $typescript) compile, and the printed command runs their test',
    async ({ framework, typescript, type }) => {
      const folder = emptyApp({ type, dependencies: DEPENDENCIES[framework] });
      if (framework === 'nest') writeFileSync(join(folder, 'tsconfig.json'), DECORATORS);
      else if (typescript) writeFileSync(join(folder, 'tsconfig.json'), '{}');
      const { exitCode, records, stderr } = await init(folder, '--yes');
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      expect(records[0]).toMatchObject({ framework, typescript, runner: 'node' });
      const [, route, test] = records.map(({ path }) => String(path));
      expect(problemsOf(folder, type === 'module' && framework !== 'next' ? 'node' : 'bundler')).toEqual([]);
      for (const path of [route, test]) expect(written(folder, String(path))).not.toMatch(/\n\n\n/);
      expect(flat(written(folder, String(route)))).toContain(HANDLERS_OF_README);
      const lines = [route, test].flatMap((path) => written(folder, String(path)).split('\n'));
      lines.push(...printedSteps(records).flatMap((step) => step.lines));
      expect(linesWithCommentBehind({ language: 'ts', lines })).toEqual([]);
      const isOtherForm = type === 'commonjs' && (framework === 'next' || framework === 'workers');
      expect(lineOf(records, 'test')).toBe(`${typescript || isOtherForm ? 'npx tsx' : 'node'} --test ${test}`);
      const { status, output } = runPrinted(folder, String(lineOf(records, 'test')));
      expect(status, output).toBe(0);
      expect(output).toMatch(/pass 1\b/);
    },
  );

  const runners = [
    { runner: 'vitest', framework: 'express', type: 'module' },
    { runner: 'vitest', framework: 'express', type: 'commonjs', typescript: true },
    { runner: 'vitest', framework: 'next', type: undefined, typescript: true },
    { runner: 'vitest', framework: 'nest', type: 'module', typescript: true },
    { runner: 'jest', framework: 'express', type: 'module' },
    { runner: 'jest', framework: 'express', type: 'commonjs' },
    { runner: 'jest', framework: 'express', type: 'commonjs', typescript: true },
    { runner: 'jest', framework: 'next', type: undefined, typescript: true },
    { runner: 'jest', framework: 'nest', type: undefined, typescript: true },
  ].filter(({ runner }) => runner !== 'jest' || hasJest);

  it.each(runners)(
    'the printed command runs the test with $runner for $framework ($type, TypeScript: $typescript)',
    async (form) => {
      const { runner, framework, type, typescript = false } = form;
      const transform = typescript ? { transform: { '\\.ts$': './transformer.cjs' } } : {};
      const found = framework === 'nest' ? { testRegex: '.*\\.spec\\.ts$', rootDir: '.' } : {};
      const devDependencies = { [runner]: '1' };
      const folder = emptyApp({
        type,
        dependencies: DEPENDENCIES[framework],
        devDependencies,
        jest: { ...transform, ...found },
      });
      if (runner === 'jest') addJest(folder);
      else writeFileSync(join(folder, 'vitest.config.mjs'), 'export default {};'); // not that of the repository
      if (typescript) writeFileSync(join(folder, 'tsconfig.json'), framework === 'nest' ? DECORATORS : '{}');
      const { records } = await init(folder, '--yes');
      const { status, output } = runPrinted(folder, String(lineOf(records, 'test')));
      expect(status, output).toBe(0);
      expect(output).toMatch(/\b1 passed\b/);
    },
  );
});

describe('the files of init', () => {
  it.each([
    ['vitest', "from 'vitest'"],
    ['jest', 'expect(await statusOf'],
  ])('the test is one for %s where the app has it', async (runner, text) => {
    const folder = emptyApp({ type: 'module', devDependencies: { [runner]: '1' } });
    await init(folder, '--yes');
    expect(written(folder, 'webhooks.test.js')).toContain(text);
  });

  it('--dry-run shows every file and writes none', async () => {
    const folder = emptyApp({ type: 'module' });
    const { exitCode, records } = await init(folder, '--dry-run');
    expect(exitCode).toBe(0);
    const shown = records.map(({ path, action }) => `${action} ${path}`).slice(1);
    expect(shown).toEqual(['create webhooks.js', 'create webhooks.test.js', 'create .env']); // the repository ignores the folder
    for (const { path } of records.slice(1)) expect(existsSync(join(folder, String(path)))).toBe(false);
  });

  it('no file is overwritten, and .env gets one line', async () => {
    const folder = emptyApp({ type: 'module' });
    writeFileSync(join(folder, 'webhooks.js'), 'mine');
    writeFileSync(join(folder, '.env'), 'PORT=3000');
    await init(folder, '--yes');
    expect(written(folder, 'webhooks.js')).toBe('mine');
    const first = written(folder, '.env');
    expect(first).toMatch(/^PORT=3000\nWEBHOOK_SECRET=whsec_[0-9a-f]{48}\n$/);
    await init(folder, '--yes');
    expect(written(folder, '.env')).toBe(first);
  });

  it.each([
    ['nothing', 'A=1\nWEBHOOK_SECRET=\nB=2\n'],
    ['empty quotes', 'A=1\nWEBHOOK_SECRET=""\nB=2\n'],
    ['a comment', 'A=1\nWEBHOOK_SECRET= # later\nB=2\n'],
  ])('a WEBHOOK_SECRET whose value is %s gets a random one, and the other lines stay', async (_, text) => {
    const folder = emptyApp({ type: 'module' });
    writeFileSync(join(folder, '.env'), text);
    const { stdout } = await init(folder, '--yes', '--text');
    expect(stdout).toContain('set the empty WEBHOOK_SECRET  .env');
    expect(written(folder, '.env')).toMatch(/^A=1\nWEBHOOK_SECRET=whsec_[0-9a-f]{48}\nB=2\n$/);
  });

  it.each([
    ['package-lock.json', 'npm install', 'npx service-webhooks-cli'],
    ['pnpm-lock.yaml', 'pnpm add', 'pnpm dlx service-webhooks-cli'],
    ['yarn.lock', 'yarn add', 'yarn dlx -p service-webhooks -p service-webhooks-cli service-webhooks'],
    ['bun.lock', 'bun add', 'bunx service-webhooks-cli'],
  ])('the steps of an app with %s install with %s, and send and doctor run with %s', async (lock, install, run) => {
    const folder = emptyApp({ type: 'module', dependencies: { express: '5' } });
    writeFileSync(join(folder, lock), '');
    const { records } = await init(folder, '--yes');
    expect(lineOf(records, 'install')).toBe(`${install} service-webhooks`);
    expect(stepsOf(records)['send']).toMatchObject({
      lines: [`${run} send generation.completed 3000`],
      shows: "It prints '200  acknowledged', and the app prints 'https://storage.example/clip.mp3'.",
    });
    expect(lineOf(records, 'doctor')).toBe(`${run} doctor 3000`);
  });

  it.each(['pnpm-lock.yaml', 'yarn.lock'])(
    'docs/integrations.md has the send command of an app with %s',
    async (lock) => {
      const folder = emptyApp({ type: 'module' });
      writeFileSync(join(folder, lock), '');
      const { records } = await init(folder, '--yes');
      const page = readFileSync(join(ROOT, 'docs/integrations.md'), 'utf8').replace(/ \\\n +/g, ' ');
      expect(page).toContain(`\n${lineOf(records, 'send')}\n`);
    },
  );

  it.each([
    ['Workers', { dependencies: { wrangler: '4' } }, '8787'],
    ['Nest', { dependencies: { '@nestjs/core': '11' } }, '3000'],
    ['Vite', { dependencies: { hono: '4' }, scripts: { dev: 'vite' } }, '5173'],
    ['a named port', { dependencies: { next: '16' }, scripts: { dev: 'next dev -p 4000' } }, '4000'],
  ])('the steps of an app with %s have its port', async (_, packageJson, port) => {
    const folder = emptyApp(packageJson);
    const { records } = await init(folder, '--yes');
    expect(lineOf(records, 'send')).toBe(`npx service-webhooks-cli send generation.completed ${port}`);
    expect(lineOf(records, 'doctor')).toBe(`npx service-webhooks-cli doctor ${port}`);
  });

  it('the steps end with send and doctor, and say what the terminal shows', async () => {
    const folder = emptyApp({ type: 'module', dependencies: { express: '5' } });
    const { stdout } = await init(folder, '--yes', '--text');
    expect(stdout).toMatch(
      / send generation\.completed 3000\n {3}It prints '200 {2}acknowledged'.*\n\d\. Check .*\n.* doctor 3000\n {3}Its last line says '0 failed'\.\n/,
    );
  });

  it('a secret that .env has is kept, and the steps do not speak of another', async () => {
    const folder = emptyApp({ type: 'module' });
    writeFileSync(join(folder, '.env'), "export WEBHOOK_SECRET='of the endpoint'\n");
    const { records } = await init(folder, '--yes');
    expect(written(folder, '.env')).toBe("export WEBHOOK_SECRET='of the endpoint'\n");
    expect(stepsOf(records)).not.toHaveProperty('secret');
  });

  it.each(['--yes', '--yes --text', '--dry-run', '--dry-run --text'])(
    'the random secret is not printed with %s',
    async (args) => {
      const folder = emptyApp({ type: 'module' });
      const { stdout, stderr } = await init(folder, args);
      expect(stdout).toContain('WEBHOOK_SECRET=whsec_…');
      expect(stdout + stderr).not.toMatch(/whsec_[0-9a-f]/);
    },
  );

  it.each([
    ['no .gitignore', undefined, '.env\n'],
    ['one without the line', 'dist', 'dist\n.env\n'],
    ['one that has it', '/.env\n', '/.env\n'],
    ['one with a pattern for it', '.env*\n', '.env*\n'],
  ])('.env is kept out of git in a folder without a repository and with %s', async (_, before, after) => {
    const folder = mkdtempSync(join(cli.cwd, 'app-'));
    writeFileSync(join(folder, 'package.json'), '{}');
    if (before !== undefined) writeFileSync(join(folder, '.gitignore'), before);
    await init(folder, '--yes');
    expect(written(folder, '.gitignore')).toBe(after);
  });

  it('a folder whose repository ignores .env gets no .gitignore', async () => {
    await cli.shell('git init --quiet && echo "*.env" > .gitignore && mkdir app && echo {} > app/package.json');
    await init(join(cli.cwd, 'app'), '--yes');
    expect(existsSync(join(cli.cwd, 'app/.gitignore'))).toBe(false);
  });

  it('--framework and --typescript say what is written, into src where the app has it', async () => {
    const folder = emptyApp({ type: 'module', dependencies: { express: '5' } });
    mkdirSync(join(folder, 'src'));
    await init(folder, '--yes', '--framework', 'hono', '--typescript');
    expect(written(folder, 'src/webhooks.ts')).toContain("'service-webhooks/hono'");
  });

  it('--yes has to be passed where stdin is no terminal', async () => {
    const folder = emptyApp({ type: 'module' });
    expect(await init(folder)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('pass --yes') });
    expect(existsSync(join(folder, 'webhooks.js'))).toBe(false);
  });

  it.each([
    ['@sveltejs/kit', 'sveltekit'],
    ['astro', 'astro'],
    ['koa', 'koa'],
  ])('an app with %s is not taken for one of plain Node, and the error names its page', async (dependency, page) => {
    const folder = emptyApp({ devDependencies: { [dependency]: '2' } });
    expect(await init(folder, '--yes')).toMatchObject(failed(2, `follow docs/quickstart/${page}.md`));
    expect(existsSync(join(folder, 'webhooks.js'))).toBe(false);
    expect((await init(folder, '--yes', '--framework', 'node')).exitCode).toBe(0);
  });

  it('a Next app whose .env.local has the secret gets no other one', async () => {
    const folder = emptyApp({ dependencies: DEPENDENCIES['next'] });
    writeFileSync(join(folder, '.env.local'), 'WEBHOOK_SECRET=of_the_endpoint\n');
    expect((await init(folder, '--yes')).exitCode).toBe(0);
    expect(written(folder, '.env.local')).toBe('WEBHOOK_SECRET=of_the_endpoint\n');
    expect(existsSync(join(folder, '.env'))).toBe(false);
  });

  it.each([
    ['there is no package.json', undefined],
    ['package.json is not JSON', '{'],
  ])('the error says that %s', async (says, text) => {
    const folder = emptyApp({});
    const inner = join(folder, 'inner');
    mkdirSync(inner);
    if (text !== undefined) writeFileSync(join(inner, 'package.json'), text);
    expect(await init(inner, '--yes')).toMatchObject(failed(3, says));
  });
});
