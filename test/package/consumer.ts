import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import { PACKAGES } from '../../scripts/subpaths.js';
import { isInstalled as isFolderInstalled } from '../integration/file-of.js';
import type { Installed } from './pack.js';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** What a project that installs the packages may have beside them: a folder of test/integration, or an example. */
type Tools = 'consumers' | 'nest-11' | 'nest-12' | 'sveltekit';

/** Whether they are there; if not, that is said. */
export const isInstalled = (tools: Tools): boolean => isFolderInstalled(folderOf(tools));

const folderOf = (tools: Tools) => (tools === 'sveltekit' ? `examples/${tools}` : `test/integration/${tools}`);

/** One project that has installed the receiver alone, or all the packages. */
export interface Consumer {
  folder: string;
  write(name: string, text: string): void;
  read(name: string): string;
  /** Runs Node there, and gives what it printed. Throws with that where it failed. */
  node(args: string[], env?: Record<string, string>): string;
  /** As {@link Consumer.node}, and a failure is an answer too. */
  attempt(args: string[], env?: Record<string, string>): { status: number | null; output: string };
}

/** A fresh project with a copy of the installed receiver, and with what is linked from `tools` beside it. */
export const makeConsumer = (files: Record<string, string>, ...tools: Tools[]) => makeProject('alone', files, tools);

/** A fresh project with copies of all installed packages, and with what is linked from `tools` beside them. */
export const makeWorkshop = (files: Record<string, string>, ...tools: Tools[]) => makeProject('together', files, tools);

function makeProject(kind: keyof Installed, files: Record<string, string>, tools: Tools[]): Consumer {
  const installed = inject('installed')[kind];
  const folder = mkdtempSync(join(installed, '../consumer-'));
  const modules = join(folder, 'node_modules');
  cpSync(join(installed, 'node_modules'), modules, { recursive: true, verbatimSymlinks: true });
  for (const tool of tools) linkAll(here(`../../${folderOf(tool)}/node_modules`), modules);
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

/** The text of a program that prints the names an entry gives to `import`. */
export const NAMES_BY_IMPORT = `const [name] = process.argv.slice(2);
  console.log(JSON.stringify(Object.keys(await import(name)).filter((key) => key !== 'module.exports').sort()));`;

/** The text of a program that prints the names an entry gives to `require`. */
export const NAMES_BY_REQUIRE = `console.log(JSON.stringify(Object.keys(require(process.argv[2])).sort()));`;

export interface Manifest {
  name: string;
  version: string;
  exports: Record<string, string | Entry>;
  bin?: Record<string, string>;
  dependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

/** Where an entry that is code leads. */
interface Entry {
  import: string;
  require: string;
}

/** The receiver's package.json, then those of the packages beside it. */
const manifests = PACKAGES.map(
  (folder): Manifest => JSON.parse(readFileSync(here(`../../${folder}/package.json`), 'utf8')),
);
export const [manifest, ...beside] = manifests as [Manifest, ...Manifest[]];

/** The name and the target of every entry of a package that is code. */
export function entriesOf({ name, exports }: Manifest) {
  return Object.entries(exports).flatMap(([subpath, target]) =>
    typeof target === 'string' ? [] : [{ name: `${name}${subpath.slice(1)}`, target }],
  );
}

/** Each file that a package.json names, as `paths` of its tarball has it. */
export function filesNamedIn(manifest: Manifest): string[] {
  const code = entriesOf(manifest).flatMap(({ target }) => [target.import, target.require].flatMap(withTypes));
  const others = Object.values(manifest.exports).filter((target) => typeof target === 'string');
  return [...code, ...others, ...Object.values(manifest.bin ?? {})].map((path) => path.replace(/^\.\//, ''));
}

/** The paths of a file of code and of its types. */
function withTypes(path: string): string[] {
  return [path, path.replace(/\.(c?)js$/, '.d.$1ts')];
}

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

/** The compiler's options of an app with Nest. */
export const OPTIONS_OF_NEST = {
  target: 'es2022',
  module: 'nodenext',
  strict: true,
  types: ['node'],
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
  // Nest's own declarations name optional packages that are not here.
  skipLibCheck: true,
};
