import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { fileOf } from '../integration/file-of.js';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const { optionalDependencies: wanted } = JSON.parse(readFileSync(here('package.json'), 'utf8'));

/** Somewhere that TypeScript servers live. */
export interface Runtime {
  /** Its name among `optionalDependencies`. */
  name: string;
  /** The one of `programs/` that serves there. */
  program: 'node' | 'bun' | 'deno' | 'workerd';
  /** Before the path of a script; undefined where it is not installed. */
  command: string[] | undefined;
  /** The pinned version, without the name of an alias. */
  version: string;
  /** A longer header is refused by its server before anyone else sees it, and nothing can be done about that. */
  maxHeaderBytes?: number;
}

export const runtimes: readonly Runtime[] = [
  ...['node-20', 'node-22', 'node-24', 'node-26'].map((name) => runtime(name, 'node', [`${name}/bin/node`])),
  // Where no install script ran, the binary is only in the package of the platform.
  runtime(
    'bun',
    'bun',
    ['@oven/bun-linux-x64/bin/bun', 'bun/bin/bun.exe'],
    ['--bun', `--max-http-header-size=${2 ** 18}`],
  ),
  {
    ...runtime('deno', 'deno', ['@deno/linux-x64-glibc/deno', 'deno/deno'], ['run', '--allow-all', '--quiet']),
    maxHeaderBytes: 64_000,
  },
  runtime('workerd', 'workerd', ['@cloudflare/workerd-linux-64/bin/workerd', 'workerd/bin/workerd']),
];

function runtime(name: string, program: Runtime['program'], paths: string[], args: string[] = []): Runtime {
  const file = fileOf(name, 'npm run test:runtimes', ...paths.map((path) => here(`node_modules/${path}`)));
  return {
    name,
    program,
    command: file === undefined ? file : [file, ...args],
    version: wanted[name].replace(/^.*@/, ''),
  };
}
