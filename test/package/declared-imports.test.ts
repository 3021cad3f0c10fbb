import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { beside, makeWorkshop, manifest } from './consumer.js';

/** Modules that a declaration extends where they are installed, with `declare module`, and does not import. */
const EXTENDED = ['expect'];

const workshop = makeWorkshop({});

// The strict node_modules of pnpm and the Plug'n'Play of Yarn give a package only what its package.json declares.
describe.each([manifest, ...beside])('the built files of $name', ({ name, dependencies, peerDependencies }) => {
  const folder = join(workshop.folder, 'node_modules', name);
  const files = readdirSync(join(folder, 'dist'), { recursive: true, encoding: 'utf8' })
    // The scripts of dist/page run in a browser.
    .filter((path) => /\.c?js$|\.d\.c?ts$/.test(path) && !path.startsWith('page'));
  const declared = [name, ...EXTENDED, ...Object.keys({ ...dependencies, ...peerDependencies })];

  it('every import is the package itself, a module of Node, a dependency or a peer dependency', () => {
    const imported = new Set(files.flatMap((path) => importsOf(join(folder, 'dist', path))));
    expect([...imported].filter((other) => !declared.includes(other))).toEqual([]);
    if (name !== manifest.name) expect([...imported]).toContain(manifest.name);
  });
});

/** The names of the packages that a file imports or requires. */
function importsOf(path: string): string[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(path, 'utf8'), true, true);
  return importedFiles
    .map(({ fileName }) => fileName)
    .filter((fileName) => !fileName.startsWith('.') && !isBuiltin(fileName))
    .map((fileName) => /^(?:@[^/]+\/)?[^/]+/.exec(fileName)?.[0] ?? fileName);
}
