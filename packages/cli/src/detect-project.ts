import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Failure } from './failure.js';

export const FRAMEWORKS = ['express', 'hono', 'node', 'fastify', 'nest', 'next', 'workers'] as const;
export type Framework = (typeof FRAMEWORKS)[number];
const PACKAGE_MANAGERS = ['npm', 'pnpm', 'yarn', 'bun'] as const;
export type PackageManager = (typeof PACKAGE_MANAGERS)[number];

/** The properties of an app's folder. */
export interface AppProject {
  framework: Framework;
  typescript: boolean;
  module: 'esm' | 'commonjs';
  runner: 'vitest' | 'jest' | 'node';
  /** The folder of the sources: `src`, or the folder itself. */
  sources: 'src' | '.';
  packageManager: PackageManager;
  packageJson: PackageJson;
}

/** What is read of a package.json. */
export interface PackageJson {
  type?: string;
  main?: string;
  packageManager?: string;
  scripts?: Readonly<Record<string, string>>;
  dependencies?: object;
  devDependencies?: object;
  jest?: { testRegex?: string | string[]; testMatch?: string[] };
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

/** Frameworks that init writes no receiver for, and their pages. */
const WITH_PAGE: readonly [dependency: string, page: string][] = [
  ['@sveltejs/kit', 'sveltekit'],
  ['astro', 'astro'],
  ['nuxt', 'h3'],
  ['@react-router/dev', 'react-router'],
  ['elysia', 'elysia'],
  ['h3', 'h3'],
  ['koa', 'koa'],
];

/** Returns the quickstart for an app whose framework init does not know; undefined where it knows it. */
export function pageFor({ framework, packageJson }: AppProject): string | undefined {
  if (framework !== 'node') return undefined;
  return WITH_PAGE.find(([dependency]) => dependsOn(packageJson, dependency))?.[1];
}

const LOCK_FILES: readonly [file: string, packageManager: PackageManager][] = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
  ['package-lock.json', 'npm'],
];

/** Returns the properties of a folder; `given` takes precedence. @throws Failure where there is no package.json */
export function detectProject(folder: string, given: { framework?: Framework; typescript?: boolean } = {}): AppProject {
  const packageJson = readPackageJson(folder);
  const has = (name: string) => dependsOn(packageJson, name);
  const exists = (name: string) => existsSync(join(folder, name));
  const isWorker = ['wrangler.toml', 'wrangler.json', 'wrangler.jsonc'].some(exists) && !has('next');
  const detected = isWorker ? 'workers' : (BY_DEPENDENCY.find(([name]) => has(name))?.[1] ?? 'node');
  const framework = given.framework ?? detected;
  // Next looks for routes in `app`, or in `src/app` where there is no other.
  const usesSrc = framework === 'next' ? exists('src') && !exists('app') : exists('src');
  return {
    framework,
    typescript: given.typescript ?? (framework === 'nest' || exists('tsconfig.json')),
    module: packageJson.type === 'module' || framework === 'next' || framework === 'workers' ? 'esm' : 'commonjs',
    runner: has('vitest') ? 'vitest' : has('jest') ? 'jest' : 'node',
    sources: usesSrc ? 'src' : '.',
    packageManager: packageManagerOf(folder, packageJson),
    packageJson,
  };
}

/** Returns whether a package.json lists a package, for production or for development. */
export function dependsOn({ dependencies, devDependencies }: PackageJson, name: string): boolean {
  return Object.hasOwn({ ...dependencies, ...devDependencies }, name);
}

function readPackageJson(folder: string): PackageJson {
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

/** The lock file of a workspace is in a folder above, up to the root of the repository. */
function packageManagerOf(folder: string, { packageManager = '' }: PackageJson): PackageManager {
  const found = LOCK_FILES.find(([file]) => existsSync(join(folder, file)));
  if (found) return found[1];
  const parent = dirname(folder);
  if (parent !== folder && !existsSync(join(folder, '.git'))) return packageManagerOf(parent, { packageManager });
  return PACKAGE_MANAGERS.find((name) => packageManager.startsWith(`${name}@`)) ?? 'npm';
}
