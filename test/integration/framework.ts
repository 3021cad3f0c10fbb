import { createRequire } from 'node:module';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isInstalled } from './file-of.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * A framework, or a part of one, that stands apart from the root: in `frameworks`, or in a folder of its own. Undefined
 * where that is not installed.
 */
export function framework<Module>(name: string, folder = 'frameworks'): Module | undefined {
  const path = posix.join('test/integration', folder);
  return isInstalled(path) ? createRequire(join(root, path, 'package.json'))(name) : undefined;
}
