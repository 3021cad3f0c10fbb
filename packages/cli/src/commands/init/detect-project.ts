import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../failure.js';

export const FRAMEWORKS = ['express', 'hono', 'node', 'fastify', 'nest', 'next', 'workers'] as const;
export type Framework = (typeof FRAMEWORKS)[number];

/** The properties of an app's folder. */
export interface Project {
  framework: Framework;
  typescript: boolean;
  module: 'esm' | 'commonjs';
  runner: 'vitest' | 'jest' | 'node';
  /** The folder of the sources: `src`, or the folder itself. */
  sources: 'src' | '.';
}

/** The framework by a dependency, in this order, because Nest and Next depend on others. */
const BY_DEPENDENCY: readonly [dependency: string, framework: Framework][] = [
  ['next', 'next'],
  ['@nestjs/core', 'nest'],
  ['wrangler', 'workers'],
  ['fastify', 'fastify'],
  ['hono', 'hono'],
  ['express', 'express'],
];

/** Returns the properties of a folder; `given` takes precedence. @throws Failure where there is no package.json */
export function detectProject(folder: string, given: { framework?: Framework; typescript?: boolean }): Project {
  const { type, dependencies, devDependencies } = readPackage(folder);
  const has = (name: string) => Object.hasOwn({ ...dependencies, ...devDependencies }, name);
  const exists = (name: string) => existsSync(join(folder, name));
  const isWorker = ['wrangler.toml', 'wrangler.json', 'wrangler.jsonc'].some(exists);
  const detected = isWorker ? 'workers' : (BY_DEPENDENCY.find(([name]) => has(name))?.[1] ?? 'node');
  const framework = given.framework ?? detected;
  return {
    framework,
    typescript: given.typescript ?? (framework === 'nest' || exists('tsconfig.json')),
    module: type === 'module' || framework === 'next' || framework === 'workers' ? 'esm' : 'commonjs',
    runner: has('vitest') ? 'vitest' : has('jest') ? 'jest' : 'node',
    sources: exists('src') ? 'src' : '.',
  };
}

interface Package {
  type?: string;
  dependencies?: object;
  devDependencies?: object;
}

function readPackage(folder: string): Package {
  const path = join(folder, 'package.json');
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const problem = existsSync(path)
      ? `package.json is not JSON (${(error as Error).message})`
      : 'there is no package.json';
    throw new Failure('file', `${problem}: run this command in the folder of your app, or run 'npm init' first.`);
  }
}
