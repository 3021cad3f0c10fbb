import { createRequire } from 'node:module';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isInstalled } from './file-of.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * A framework, or a part of one, with the types that the caller names: among the packages of the root, or in a folder
 * here. Undefined where that folder is not installed.
 */
export function framework<Module>(name: string, folder = '../..'): Module | undefined {
  const path = posix.join('test/integration', folder);
  return isInstalled(path) ? createRequire(join(root, path, 'package.json'))(name) : undefined;
}
