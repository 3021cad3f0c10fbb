import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

describe('the layers of the source folders', () => {
  it('each folder of sources has one row in the table of layers', () => {
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

  it('CONTRIBUTING.md draws the same layers, and the packages that each package needs', () => {
    const [, drawing = ''] = /```mermaid\n(.*?)```/s.exec(read('CONTRIBUTING.md')) ?? [];
    const arrows = drawing.replace(/\["[^"]*"\]/g, '').match(/[\w-]+ --> [\w-]+/g) ?? [];
    const expected = [...allowed, ...between, ['adapters', 'root']].map((pair) => pair.join(' --> '));
    expect(arrows.toSorted()).toEqual(expected.toSorted());
  });
});

it('no source file or folder is named utils, types, helpers or common', () => {
  const places = ['adapters', ...PACKAGES.map((place) => join(place, 'src'))];
  const files = places.flatMap((place) => readdirSync(join(ROOT, place), { recursive: true, encoding: 'utf8' }));
  expect(files.length).toBeGreaterThan(300);
  // A command has a folder of its name, which users type.
  const named = files.map((file) => file.replace(/^commands[/\\]\w+/, 'command'));
  expect(named.filter((file) => /(^|[/\\])(utils|types|helpers|common)(\.tsx?$|[/\\]|$)/.test(file))).toEqual([]);
});

/** What no source may have, a file that has it, and by which rule it is refused. */
const PLANTED: readonly [what: string, path: string, code: string, rule: string][] = [
  ['a module of Node in the core', 'src/verify/a.ts', "export { hash } from 'node:crypto';", 'plugin'],
  ['a module of Node in the core, loaded later', 'src/receiver/b.ts', "export const os = import('node:os');", 'plugin'],
  ['a package in a store', 'src/stores/a.ts', "export { createClient } from 'redis';", 'plugin'],
  ['a store in the core', 'src/receiver/a.ts', "export * from '../stores/redis.js';", 'noRestrictedImports'],
  ['a store in the entry', 'src/index.ts', "export * from './stores/redis.js';", 'noRestrictedImports'],
  ['the receiver by its name in itself', 'src/client/a.ts', "export * from 'service-webhooks';", 'noRestrictedImports'],
  ['an adapter in src', 'src/verify/b.ts', "export * from '../../adapters/fetch.js';", 'plugin'],
  ['an adapter at the top of src', 'src/b.ts', "export * from '../adapters/fetch.js';", 'noRestrictedImports'],
  ['a folder that is not drawn', 'src/verify/c.ts', "export * from '../queue/queue.js';", 'plugin'],
  ['types of a folder that is not drawn', 'src/verify/d.ts', "export type * from '../queue/queue.js';", 'plugin'],
  ['sources of another package', 'packages/cli/src/http/a.ts', "export * from '../../../suites/src/a.js';", 'plugin'],
  ['a package that is not listed', 'packages/cli/src/http/b.ts', "export * from 'koa';", 'noUndeclaredDependencies'],
  ['a framework in an adapter', 'adapters/koa.ts', "export { default } from 'koa';", 'plugin'],
  ['an adapter in an adapter', 'adapters/fetch.ts', "export * from './node.js';", 'noRestrictedImports'],
  ['a file that imports itself through another', 'src/x.ts', "export * from './y.js';", 'noImportCycles'],
  ['a file that is imported back', 'src/y.ts', "export * from './x.js';", 'noImportCycles'],
  ['a class', 'src/c.ts', 'export class Reader {}', 'plugin'],
  ['a file of 300 lines', 'src/d.ts', 'export {};\n'.repeat(300), 'noExcessiveLinesPerFile'],
  ['an adapter of 60 lines', 'adapters/node.ts', 'export {};\n'.repeat(60), 'noExcessiveLinesPerFile'],
  ['a test that is the only one', 'test/a.test.ts', "it.only('runs', () => {});", 'noFocusedTests'],
  ['a test that is skipped', 'test/b.test.ts', "it.skip('runs', () => {});", 'noSkippedTests'],
];

/** What the sources have, and no rule refuses. */
const ALLOWED: readonly [path: string, code: string][] = [
  ['src/verify/e.ts', "export type { Hash } from 'node:crypto';\nexport * from '../service/a.js';"],
  ['src/receiver/c.ts', "export * from '../stores/memory.js';\nexport class OwnError extends Error {}"],
  ['src/queue/a.ts', "export * from '../receiver/a.js';"],
  ['adapters/hono.ts', "export { sign } from 'service-webhooks';\nexport type { Context } from 'hono';"],
  ['adapters/h3.ts', "export * from './shared/a.js';"],
];

describe('sources planted to test the linter', () => {
  const folder = mkdtempSync(join(tmpdir(), 'planted-'));
  let found: { category: string; location: { path: string } }[] = [];
  const rulesFor = (path: string) =>
    found.filter(({ location }) => location.path === path).map(({ category }) => category.replace(/.*\//, ''));

  beforeAll(() => {
    for (const path of ['biome.json', 'scripts/lint', ...PACKAGES.map((place) => join(place, 'package.json'))]) {
      cpSync(`${ROOT}${path}`, join(folder, path), { recursive: true });
    }
    for (const [path, code] of [...PLANTED.map(([, path, code]) => [path, code] as const), ...ALLOWED]) {
      mkdirSync(join(folder, dirname(path)), { recursive: true });
      writeFileSync(join(folder, path), code);
    }
    const args = ['lint', '--vcs-enabled=false', '--reporter=json', '--max-diagnostics=none', '.'];
    const { stdout } = spawnSync(`${ROOT}node_modules/.bin/biome`, args, { cwd: folder, encoding: 'utf8' });
    found = JSON.parse(stdout).diagnostics;
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each(PLANTED)('the linter refuses %s', (_, path, _code, rule) => {
    expect(rulesFor(path)).toContain(rule);
  });

  it.each(ALLOWED)('the linter finds nothing wrong in %s', (path) => {
    expect(rulesFor(path)).toEqual([]);
  });
});
