import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { fileOf } from './file-of.js';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/**
 * A framework, or a part of one, that stands apart from the root: in `frameworks`, or in a folder of its own. Undefined
 * where that is not installed.
 */
export function framework<Module>(name: string, folder = 'frameworks'): Module | undefined {
  return fileOf(here(`${folder}/node_modules`)) && createRequire(here(`${folder}/package.json`))(name);
}
