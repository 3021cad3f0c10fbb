import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { detectProject } from '../src/detect-project.js';
import { startCommand, startInFolder } from '../src/start-command.js';

/** An app with a package.json and empty files. */
function anApp(packageJson: object, files: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'start-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), '');
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(packageJson));
  return folder;
}

const NEST = { '@nestjs/core': '11' };

describe('the command that starts an app with its secret', () => {
  it.each([
    ['the file of main', { main: 'lib.js' }, ['lib.js'], 'node --env-file=.env lib.js'],
    ['a usual file, where there is none of main', { main: 'index.js' }, ['app.js'], 'node --env-file=.env app.js'],
    ['the script start', { scripts: { start: 'node ./bin/www' } }, ['app.js'], 'node --env-file=.env ./bin/www'],
    [
      'dev before start',
      { scripts: { start: 'node a.js', dev: 'node --watch a.js' } },
      [],
      'node --env-file=.env --watch a.js',
    ],
    ['nodemon', { scripts: { dev: 'nodemon a.js' } }, ['a.js'], 'node --watch --env-file=.env a.js'],
    ['tsx', { scripts: { dev: 'tsx watch src/index.ts' } }, [], 'npx tsx watch --env-file=.env src/index.ts'],
    [
      'a build',
      { scripts: { build: 'tsc', start: 'node dist/a.js' } },
      [],
      'npm run build && node --env-file=.env dist/a.js',
    ],
    ['TypeScript without a script', {}, ['tsconfig.json', 'src/index.ts'], 'npx tsx --env-file=.env src/index.ts'],
    ['a script that reads .env', { scripts: { dev: 'node --env-file .env a.js' } }, [], 'npm run dev'],
    ['dotenv', { scripts: { start: 'node -r dotenv/config a.js' } }, [], 'npm run start'],
    ['a variable in the script', { scripts: { dev: 'DEBUG=1 node a.js' } }, ['a.js'], 'node --env-file=.env a.js'],
    ['Bun', { scripts: { dev: 'bun run --hot src/index.ts' } }, ['bun.lock'], 'bun run dev'],
    ['pnpm', { dependencies: { next: '16' }, scripts: { dev: 'next dev' } }, ['pnpm-lock.yaml'], 'pnpm run dev'],
    ['Next without a script', { dependencies: { next: '16' } }, [], 'npx next dev'],
    ['Nest', { dependencies: NEST, devDependencies: { '@nestjs/cli': '11' } }, [], 'npx nest start --env-file .env'],
    ['SvelteKit', { devDependencies: { '@sveltejs/kit': '2' }, scripts: { dev: 'vite dev' } }, [], 'npm run dev'],
    ['Workers', {}, ['wrangler.toml'], 'npx wrangler dev'],
    ['nothing known', {}, [], 'node --env-file=.env server.js'],
  ])('%s decides it', (_, packageJson, files, command) => {
    const folder = anApp(packageJson, files);
    expect(startCommand(folder, detectProject(folder)).command).toBe(command);
    expect(startInFolder(folder).command).toBe(command);
  });

  it('the file that starts the app is the one of the sources', () => {
    const folder = anApp({ main: 'dist/index.js' }, ['dist/index.js', 'tsconfig.json', 'src/index.ts']);
    expect(startCommand(folder, detectProject(folder)).entry).toBe('src/index.ts');
    const empty = anApp({ main: 'index.js' }, []);
    expect(startCommand(empty, detectProject(empty)).entry).toBeUndefined();
  });

  it('a folder without an app has the command of an example', () => {
    const folder = mkdtempSync(join(tmpdir(), 'start-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    expect(startInFolder(folder)).toEqual({ command: 'node --env-file=.env server.js', envFile: '.env' });
  });

  it('the environment file of a Worker is .dev.vars', () => {
    expect(startInFolder(anApp({}, ['wrangler.jsonc'])).envFile).toBe('.dev.vars');
  });
});
