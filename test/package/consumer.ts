import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import { isInstalled as isFolderInstalled } from '../integration/file-of.js';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** What a project that installs the package may have beside it: a folder of test/integration. */
type Tools = 'consumers' | 'nest-11' | 'nest-12';

/** Whether they are there; if not, that is said. */
export const isInstalled = (tools: Tools): boolean => isFolderInstalled(`test/integration/${tools}`);

/** One project that has installed the package. */
export interface Consumer {
  folder: string;
  write(name: string, text: string): void;
  read(name: string): string;
  /** Runs Node there, and gives what it printed. Throws with that where it failed. */
  node(args: string[], env?: Record<string, string>): string;
  /** As {@link Consumer.node}, and a failure is an answer too. */
  attempt(args: string[], env?: Record<string, string>): { status: number | null; output: string };
}

/** A fresh project with the package, unpacked anew, and with what is linked from `tools` beside it. */
export function makeConsumer(files: Record<string, string>, ...tools: Tools[]): Consumer {
  const folder = mkdtempSync(join(inject('installed'), '../consumer-'));
  const modules = join(folder, 'node_modules');
  cpSync(join(inject('installed'), 'node_modules'), modules, { recursive: true, verbatimSymlinks: true });
  for (const tool of tools) linkAll(here(`../integration/${tool}/node_modules`), modules);
  const write: Consumer['write'] = (name, text) => writeFileSync(join(folder, name), text);
  for (const [name, text] of Object.entries({ 'package.json': '{ "private": true }', ...files })) write(name, text);

  const attempt: Consumer['attempt'] = (args, env) => {
    const { status, stdout, stderr, error } = spawnSync(process.execPath, args, {
      cwd: folder,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], ...env },
    });
    if (error) throw error;
    return { status, output: `${stdout}${stderr}` };
  };
  return {
    folder,
    write,
    read: (name) => readFileSync(join(folder, name), 'utf8'),
    attempt,
    node(args, env) {
      const { status, output } = attempt(args, env);
      if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status}:\n${output}`);
      return output;
    },
  };
}

/** The text of a file in `consumers`. */
export const program = (name: string): string => readFileSync(here(`consumers/${name}`), 'utf8');

export const manifest = JSON.parse(readFileSync(here('../../package.json'), 'utf8'));

/** The name and the target of every entry that is code. */
export const entries = Object.entries<{ import: string; require: string }>(manifest.exports)
  .filter(([, target]) => typeof target !== 'string')
  .map(([subpath, target]) => ({ name: `${manifest.name}${subpath.slice(1)}`, subpath, target }));

function linkAll(from: string, to: string) {
  for (const name of readdirSync(from)) {
    if (name.startsWith('.') || name === manifest.name) continue;
    if (!name.startsWith('@')) link(join(from, name), join(to, name));
    else {
      mkdirSync(join(to, name), { recursive: true });
      for (const scoped of readdirSync(join(from, name))) link(join(from, name, scoped), join(to, name, scoped));
    }
  }
}

function link(from: string, to: string) {
  try {
    symlinkSync(from, to, 'junction');
  } catch (error) {
    // Two sets of tools have it: the first one wins.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
