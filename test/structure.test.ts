import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PACKAGES } from '../scripts/subpaths.js';
import { ROOT } from './support/markdown.js';

const read = (path: string) => readFileSync(`${ROOT}${path}`, 'utf8');

// The linter holds imports to the rows of this file; of a row's words, those that are no folder are parts of the folder itself.
const rows = [...read('scripts/lint/layers.grit').matchAll(/layer\(folder="(.+)\/", imports="(.*)"\)/g)].map(
  ([, folder = '', imports = '']) => ({ folder, imports: imports.split(' ') }),
);

const folders = PACKAGES.flatMap((place) => {
  const sources = place === '.' ? 'src' : `${place}/src`;
  return readdirSync(`${ROOT}${sources}`, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => ({ folder: `${sources}/${name}`, sources }));
});

/** As the picture names it: `verify`, `cli_page`. */
const nameOf = (folder: string) => folder.replace(/^src\//, '').replace(/^packages\/(\w+)\/src\//, '$1_');

const allowed = rows.flatMap(({ folder, imports }) => {
  const { sources } = folders.find((one) => one.folder === folder) ?? expect.fail(`${folder} does not exist`);
  return imports
    .filter((name) => folders.some((one) => one.folder === `${sources}/${name}`))
    .map((name) => [nameOf(folder), nameOf(`${sources}/${name}`)] as const);
});

/** What the packages need of each other, as their package.json lists it. */
const between = PACKAGES.flatMap((place) => {
  const { name, dependencies, peerDependencies } = JSON.parse(read(`${place}/package.json`));
  const short = (long: string) => (long === 'service-webhooks' ? 'root' : long.replace('service-webhooks-', ''));
  const needed = Object.keys({ ...dependencies, ...peerDependencies }).filter((other) =>
    /^service-webhooks/.test(other),
  );
  return needed.map((other) => [short(name), short(other)] as const);
});

describe('the layers', () => {
  it('every folder of sources has its row', () => {
    expect(rows.map(({ folder }) => folder).toSorted()).toEqual(folders.map(({ folder }) => folder).toSorted());
  });

  it('no folder may import itself through others', () => {
    const reachedFrom = (start: string, reached = new Set<string>()): Set<string> => {
      for (const [from, to] of allowed) if (from === start && !reached.has(to)) reachedFrom(to, reached.add(to));
      return reached;
    };
    const names = folders.map(({ folder }) => nameOf(folder));
    expect(names.filter((name) => reachedFrom(name).has(name))).toEqual([]);
  });

  it('CONTRIBUTING.md draws them, and the packages that each package needs', () => {
    const [, drawing = ''] = /```mermaid\n(.*?)```/s.exec(read('CONTRIBUTING.md')) ?? [];
    const arrows = drawing.replace(/\["[^"]*"\]/g, '').match(/[\w-]+ --> [\w-]+/g) ?? [];
    const expected = [...allowed, ...between, ['adapters', 'root']].map((pair) => pair.join(' --> '));
    expect(arrows.toSorted()).toEqual(expected.toSorted());
  });
});
