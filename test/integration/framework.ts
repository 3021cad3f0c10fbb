import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isInstalled } from './file-of.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A part of a framework that stands apart in a folder here. Undefined where that is not installed. */
export function framework<Module>(name: string, folder: string): Module | undefined {
  const path = `test/integration/${folder}`;
  return isInstalled(path) ? createRequire(join(root, path, 'package.json'))(name) : undefined;
}
