import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SECRET } from '../../../../../test/support/deliveries.js';
import { FRAMEWORKS } from '../../../src/commands/init/detect-project.js';
import { useCli } from '../../support/cli.js';
import { failed } from '../support.js';
import { compile, emptyApp, install, problemsOf, runTest, start } from './written-app.js';

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
const init = (folder: string, ...args: string[]) =>
  cli.shell(`cd ${folder} && service-webhooks init ${args.join(' ')}`);
const written = (folder: string, path: string) => readFileSync(join(folder, path), 'utf8');

describe('what init writes', { timeout: 120_000 }, () => {
  const forms = FRAMEWORKS.flatMap((framework) => [
    { framework, typescript: true, type: 'module' },
    // Nest is written in TypeScript; Next and Workers have no CommonJS.
    ...(framework === 'nest' ? [] : [{ framework, typescript: false, type: 'module' }]),
    ...(['nest', 'next', 'workers'].includes(framework) ? [] : [{ framework, typescript: false, type: 'commonjs' }]),
  ]);

  it.each(forms)(
    'the files for $framework ($type, TypeScript: $typescript) compile, and their test passes',
    async (form) => {
      const { framework, typescript, type } = form;
      const folder = emptyApp({ type, dependencies: DEPENDENCIES[framework] });
      install(folder);
      if (typescript) writeFileSync(join(folder, 'tsconfig.json'), '{}');
      const { exitCode, records, stderr } = await init(folder, '--yes');
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      expect(records[0]).toMatchObject({ framework, typescript, runner: 'node' });
      const [, route, test] = records.map(({ path }) => String(path));
      expect(problemsOf(folder)).toEqual([]);
      for (const path of [route, test]) expect(written(folder, String(path))).not.toMatch(/\n\n\n/);
      if (typescript) compile(folder, 'esm');
      const { status, stdout } = runTest(folder, String(test).replace(/\.ts$/, '.js'));
      expect(status, stdout).toBe(0);
      expect(route).toMatch(/webhooks/);
    },
  );

  it.each(FRAMEWORKS)('doctor passes the receiver for %s', async (framework) => {
    const folder = emptyApp({ type: 'module', dependencies: DEPENDENCIES[framework] });
    install(folder);
    const { records } = await init(folder, '--yes');
    const [, route = ''] = records.map(({ path }) => String(path));
    if (route.endsWith('.ts')) compile(folder, 'esm');
    const url = await start(folder, framework, route);
    const { exitCode, stdout } = await cli.run(['doctor', url, '--secret', 'env:WEBHOOK_SECRET'], {
      env: { WEBHOOK_SECRET: SECRET },
    });
    expect(exitCode, stdout).toBe(0);
  });
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
    expect(shown).toEqual(['create webhooks.js', 'create webhooks.test.js', 'create .env']);
    for (const { path } of records.slice(1)) expect(existsSync(join(folder, String(path)))).toBe(false);
  });

  it('no file is overwritten, and .env gets one line', async () => {
    const folder = emptyApp({ type: 'module' });
    writeFileSync(join(folder, 'webhooks.js'), 'mine');
    writeFileSync(join(folder, '.env'), 'PORT=3000');
    await init(folder, '--yes');
    expect(written(folder, 'webhooks.js')).toBe('mine');
    expect(written(folder, '.env')).toBe('PORT=3000\nWEBHOOK_SECRET=\n');
    await init(folder, '--yes');
    expect(written(folder, '.env')).toBe('PORT=3000\nWEBHOOK_SECRET=\n');
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
