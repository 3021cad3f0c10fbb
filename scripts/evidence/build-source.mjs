import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'tsup';

const root = join(import.meta.dirname, '../..');

/**
 * The modules of some sources, each with all it needs: also those that no entry of the package exports, and without
 * `npm run build`.
 */
export async function buildSource(...paths) {
  const outDir = join(root, '.tmp/evidence');
  await build({
    entry: Object.fromEntries(paths.map((path) => [nameOf(path), join(root, path)])),
    outDir,
    config: false,
    silent: true,
    format: ['esm'],
    target: 'es2022',
    splitting: false,
    // `paths` of tsconfig.json lead to its sources.
    noExternal: [/^service-webhooks/],
    outExtension: () => ({ js: '.mjs' }),
  });
  /** A `?query` loads a module once more. */
  return (path, query = '') => import(`${pathToFileURL(join(outDir, `${nameOf(path)}.mjs`))}${query}`);
}

const nameOf = (path) => path.replaceAll('/', '-').replace(/\.ts$/, '');
