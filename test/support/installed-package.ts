import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = new URL('../../', import.meta.url).pathname;

/** Makes a directory a project that has installed a package, with the others of its scope. */
export function installPackage(directory: string, name: string, from = 'node_modules'): void {
  mkdirSync(join(directory, 'node_modules'), { recursive: true });
  // A link to the package alone would find its dependencies: they are looked up from where it really is.
  const [entry = name] = name.startsWith('@') ? name.split('/') : [name];
  symlinkSync(join(root, from, entry), join(directory, 'node_modules', entry));
}

/** Makes a directory a project without a package, also where a directory above it has one that Node would find. */
export function hidePackage(directory: string, name: string): void {
  const hidden = join(directory, 'node_modules', name);
  mkdirSync(hidden, { recursive: true });
  writeFileSync(join(hidden, 'package.json'), JSON.stringify({ name, exports: {} }));
}
