import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { manifestOf, PACKAGES, root } from './packages.mjs';

export { PACKAGES, root };

/** One entry of a package that is code. */
export interface Subpath {
  /** As a user imports it: `service-webhooks/stores/redis`. */
  name: string;
  /** In `dist`, without its extension: `stores/redis`; `index` for the package itself. */
  entry: string;
  /** Its source, from the root of the repository: `src/stores/redis.ts`. */
  source: string;
}

/** Where the source of `./x` may be, in this order. `paths` of tsconfig.json is the same list. */
const PLACES = ['src/*.ts', 'src/*/index.ts', 'adapters/*.ts', '*/index.ts'];

/**
 * The entries of a package, as `exports` in its package.json has them: the one list of sub-paths. The build, the tests and
 * the size budgets use this, so that a new sub-path is a line there and a file in one of the places.
 */
export function subpathsOf(folder: string): Subpath[] {
  const { name, exports } = manifestOf(folder);
  return Object.entries<string | object>(exports)
    .filter(([, target]) => typeof target !== 'string')
    .map(([subpath]) => {
      const entry = subpath === '.' ? 'index' : subpath.slice(2);
      return { name: `${name}${subpath.slice(1)}`, entry, source: sourceOf(folder, entry) };
    });
}

/**
 * What `typesVersions` of a package.json must be: where TypeScript finds the types of each sub-path with `moduleResolution`
 * `node10`, which does not read `exports`.
 */
export function typesVersionsOf(folder: string) {
  const places = subpathsOf(folder)
    .filter(({ entry }) => entry !== 'index')
    .map(({ entry }) => [entry, [`./dist/${entry}.d.cts`]]);
  return places.length > 0 ? { '*': Object.fromEntries(places) } : undefined;
}

/** The entries of the receiver. */
export const subpaths: readonly Subpath[] = subpathsOf('.');

/** The entries of all packages. */
export const allSubpaths: readonly Subpath[] = PACKAGES.flatMap(subpathsOf);

function sourceOf(folder: string, entry: string): string {
  const candidates = PLACES.map((place) => posix.join(folder, place.replace('*', entry)));
  const source = candidates.find((path) => existsSync(root + path));
  if (source === undefined) throw new Error(`exports has ./${entry}, but none of ${candidates.join(', ')} exists`);
  return source;
}
