import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { onTestFinished } from 'vitest';
import { ROOT } from '../../../../../test/support/markdown.js';
import { freePort, untilAnswers } from '../../../../../test/support/server-process.js';
import type { Step } from '../../../src/commands/init/next-steps.js';
import type { Starter } from './starters.js';

/** Writes the app into a folder of its own, next to the packages of its host. */
export function writeStarter({ host, packageJson, files }: Starter): string {
  const parent = join(ROOT, host, '.tmp');
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'init-'));
  onTestFinished(() => rmSync(folder, { recursive: true, maxRetries: 5 }));
  write(folder, 'package.json', JSON.stringify(packageJson));
  for (const [path, text] of Object.entries(files)) write(folder, path, text);
  return folder;
}

function write(folder: string, path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

/** Installs the built library, with the declarations of {@link writeDeclarations}. */
export function installLibrary(folder: string, declarations: string): void {
  const library = join(folder, 'node_modules/service-webhooks');
  mkdirSync(library, { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(library, 'package.json'));
  cpSync(join(ROOT, 'dist'), join(library, 'dist'), { recursive: true, filter: (path) => !/\.d\.c?ts$/.test(path) });
  symlinkSync(declarations, join(library, 'types'));
  for (const [name, source] of Object.entries(DECLARED)) {
    for (const ending of ['d.ts', 'd.cts']) {
      writeFileSync(join(library, `dist/${name}.${ending}`), `export * from '../types/${source}.js';\n`);
    }
  }
}

const DECLARED = { index: 'src/index', nest: 'adapters/nest', testing: 'src/testing/index' };

/**
 * Writes the declarations of the modules that init imports into a folder where the library finds itself by its name, and
 * returns the folder. One is enough for all apps.
 */
export function writeDeclarations(): string {
  const parent = join(ROOT, 'packages/cli/test/commands/init/.tmp');
  mkdirSync(parent, { recursive: true });
  const outDir = mkdtempSync(join(parent, 'types-'));
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const emit = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    rootDir: ROOT,
    outDir,
    incremental: false,
  };
  const files = Object.values(DECLARED).map((source) => join(ROOT, `${source}.ts`));
  ts.createProgram(files, { ...options, ...emit }).emit();
  return outDir;
}

/** Adds the lines of a step to the app where the sentence of the step says. */
export function mount(folder: string, { says, lines }: Step, mountBelow = ''): void {
  const [, path = ''] = / ([\w./-]+):$/.exec(says) ?? [];
  const isLoading = (line: string) => /^import |= require\(/.test(line);
  const rest = lines.filter((line) => !isLoading(line)).join('\n');
  const text = readFileSync(join(folder, path), 'utf8');
  const mounted = says.startsWith('Add the controller')
    ? text.replace(/controllers: \[(\w+)\]/, `controllers: [$1, ${/\[(\w+)\]/.exec(rest)?.[1]}]`)
    : says.startsWith('Write these lines in place of NestFactory.create(AppModule)')
      ? text.replace(/^.*NestFactory\.create\(AppModule\);$/m, rest)
      : text.replace(`\n${mountBelow}\n`, `\n${mountBelow}\n${rest}\n`);
  if (mounted === text) throw new Error(`nothing was mounted in ${path}: ${says}`);
  writeFileSync(join(folder, path), [...lines.filter(isLoading), mounted].join('\n'));
}

export const isOldNode = Number(process.versions.node.split('.')[0]) < 22;

/** The environment of a developer's terminal: nothing is installed by the way, and no secret is set. */
function terminal(more: Record<string, string> = {}): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env;
  const quiet = {
    NEXT_TELEMETRY_DISABLED: '1',
    WRANGLER_SEND_METRICS: 'false',
    NO_COLOR: '1',
    npm_config_offline: 'true',
  };
  return { PATH, HOME, ...quiet, ...more };
}

/** Runs a printed command in the folder of the app. */
export function runPrinted(folder: string, command: string): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-c', command], {
    cwd: folder,
    env: terminal(),
    encoding: 'utf8',
  });
  return { status, output: `${stdout}${stderr}` };
}

/** Starts the app with the printed command, and resolves to the port on which it answers. */
export async function startPrinted(folder: string, command: string): Promise<{ port: number; output: () => string }> {
  const port = await freePort();
  // Wrangler has an option for the port, and reads no PORT. It runs on Node 22 and later.
  const isWrangler = command.includes('wrangler');
  const line = isWrangler ? `${command} --port ${port}` : command;
  const env = terminal({ PORT: `${port}` });
  if (isWrangler && isOldNode) env['PATH'] = `${join(ROOT, 'test/runtimes/node_modules/node-22/bin')}:${env['PATH']}`;
  const app = spawn('bash', ['--norc', '-c', line], {
    cwd: folder,
    env,
    detached: true, // with a group of its own, which ends as a whole
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed: string[] = [];
  for (const stream of [app.stdout, app.stderr]) stream.on('data', (chunk) => printed.push(String(chunk)));
  onTestFinished(() => endGroup(app));
  const answers = () =>
    fetch(`http://localhost:${port}/webhooks`).then(
      () => true,
      () => false,
    );
  const output = () => printed.join('');
  await untilAnswers(app, answers).catch((error) => {
    throw new Error(`${command}: ${error.message}\n${output()}`);
  });
  return { port, output };
}

async function endGroup(app: ChildProcess): Promise<void> {
  const closed = app.exitCode === null ? once(app, 'close') : undefined;
  try {
    process.kill(-(app.pid as number), 'SIGKILL');
  } catch {} // the group has ended by itself
  await closed;
}
