import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const here = join(import.meta.dirname, '..');

/** The folder of another checkout to compare with, from `--against`; undefined without it. It has to be built. */
export const against = process.env.AGAINST && resolve(process.env.AGAINST);

/** An entry of the built library, of this checkout or of another: `entryOf('express', against)`. */
export function entryOf(name, checkout = here) {
  const file = join(checkout, 'dist', `${name}.js`);
  if (!existsSync(file)) throw new Error(`${file} is missing: run npm run build in ${checkout}.`);
  return import(pathToFileURL(file).href);
}
