import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** One entry of the package that is code. */
export interface Subpath {
  /** As a user imports it: `service-webhooks/stores/redis`. */
  name: string;
  /** In `dist`, without its extension: `stores/redis`; `index` for the package itself. */
  entry: string;
  /** Its source, from the root of the repository: `src/stores/redis.ts`. */
  source: string;
}

const root = fileURLToPath(new URL('../', import.meta.url));
const { name, exports } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));

/** Where the source of `./x` may be, in this order. `paths` of tsconfig.json is the same list. */
const PLACES = ['src/*.ts', 'src/*/index.ts', 'adapters/*.ts', '*/index.ts'];

/**
 * The entries of the package, as `exports` in package.json has them: the one list of sub-paths. The build, the tests and
 * the size budgets use this, so that a new sub-path is a line there and a file in one of the places.
 */
export const subpaths: readonly Subpath[] = Object.entries<string | object>(exports)
  .filter(([, target]) => typeof target !== 'string')
  .map(([subpath]) => {
    const entry = subpath === '.' ? 'index' : subpath.slice(2);
    return { name: `${name}${subpath.slice(1)}`, entry, source: sourceOf(entry) };
  });

/** The packages beside this one that have an entry, by the name that users import. */
export const companions: readonly Subpath[] = [
  { name: 'service-webhooks-suites', entry: 'index', source: 'src/testing/suites/index.ts' },
];

function sourceOf(entry: string): string {
  const candidates = PLACES.map((place) => place.replace('*', entry));
  const source = candidates.find((path) => existsSync(root + path));
  if (source === undefined) throw new Error(`exports has ./${entry}, but none of ${candidates.join(', ')} exists`);
  return source;
}
