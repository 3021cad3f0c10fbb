import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, vi } from 'vitest';
import { PATIENTLY } from '../support/patiently.js';
import { freePort } from '../support/server-process.js';
import { installSources } from './sources.js';

const NOT_COPIED = [
  'node_modules',
  '.tmp',
  '.env',
  'package-lock.json',
  '.svelte-kit',
  '.astro',
  '.next',
  'build',
  'dist',
];

/** An example in a folder of its own, built by its own script without the secret. */
export interface BuiltApp {
  /** What the build printed. */
  output: string;
  /** Starts the app by its own script with this text in `.env`, and resolves when it answers. */
  start(dotenv: string): Promise<StartedApp>;
  /** Runs the start script with this text in `.env`, for an app that then ends by itself. */
  startInVain(dotenv: string): { status: number | null; output: string };
  remove(): void;
}

export interface StartedApp {
  url: string;
  /** What the app has printed so far. */
  lines: readonly string[];
  stop(): Promise<void>;
}

/** Copies an example next to its packages, with the sources for the library, and builds it. */
export function buildApp(name: string): BuiltApp {
  const example = fileURLToPath(new URL(`../../examples/${name}/`, import.meta.url));
  mkdirSync(join(example, '.tmp'), { recursive: true });
  const folder = mkdtempSync(join(example, '.tmp', 'app-'));
  for (const file of readdirSync(example)) {
    if (!NOT_COPIED.includes(file)) cpSync(join(example, file), join(folder, file), { recursive: true });
  }
  installSources(folder);
  const { WEBHOOK_SECRET: _, ...rest } = process.env;
  const env = {
    ...rest,
    NODE_ENV: 'production',
    ASTRO_TELEMETRY_DISABLED: '1',
    NEXT_TELEMETRY_DISABLED: '1',
    HOST: '127.0.0.1',
  };
  const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const built = spawnSync('npm', ['run', 'build'], { cwd: folder, env, encoding: 'utf8' });
  expect(built.status, `${built.stdout}${built.stderr}`).toBe(0);
  // Without npm in between, so that the app itself gets the signal that ends it.
  const [program, ...own]: string[] = scripts.start.split(' ');
  const next = [join(example, 'node_modules/next/dist/bin/next'), ...own, '--hostname', '127.0.0.1'];
  const args = program === 'next' ? next : own;
  const write = (dotenv: string) => writeFileSync(join(folder, '.env'), dotenv);

  return {
    output: `${built.stdout}${built.stderr}`,
    async start(dotenv) {
      write(dotenv);
      const port = `${await freePort()}`;
      const child = spawn(process.execPath, args, { cwd: folder, env: { ...env, PORT: port } });
      const lines: string[] = [];
      for (const stream of [child.stdout, child.stderr]) {
        createInterface({ input: stream }).on('line', (line) => lines.push(line));
      }
      const url = `http://127.0.0.1:${port}`;
      await vi.waitFor(async () => expect(await fetch(url), lines.join('\n')).toBeDefined(), PATIENTLY);
      return { url, lines, stop: () => stop(child) };
    },
    startInVain(dotenv) {
      write(dotenv);
      const options = { cwd: folder, env: { ...env, PORT: '0' }, encoding: 'utf8', ...PATIENTLY } as const;
      const { status, stdout, stderr } = spawnSync(process.execPath, args, options);
      return { status, output: `${stdout}${stderr}` };
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'close');
  child.kill('SIGKILL');
  await ended;
}
