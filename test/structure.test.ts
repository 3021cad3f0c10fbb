import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { PACKAGES } from '../scripts/subpaths.js';

const root = join(import.meta.dirname, '..');

interface Import {
  /** The name as it is written, or the path from the root where it is a file of this repository. */
  to: string;
  typeOnly: boolean;
}

// Import lines as the formatter leaves them: `import … from`, `export … from`, `import '…'`, `import('…')`. A name with a
// placeholder stands in a program that `init` writes.
const STATIC = /^(?:import|export)( type)?\s[^;']*from '([^'$]+)';|^import '([^'$]+)';/gm;
const DYNAMIC = /(typeof )?\bimport\('([^'$]+)'\)/g;

interface Source {
  path: string;
  text: string;
  imports: Import[];
}

function read(path: string): Source {
  const text = readFileSync(join(root, path), 'utf8');
  const imports = [...text.matchAll(STATIC), ...text.matchAll(DYNAMIC)].map(([, type, from, bare = '']): Import => {
    const to = from ?? bare;
    return {
      to: to.startsWith('.') ? posix.join(posix.dirname(path), to).replace(/\.js$/, '.ts') : to,
      typeOnly: !!type,
    };
  });
  return { path, text, imports };
}

const inFolder = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => read(`${folder}/${file.replaceAll('\\', '/')}`));

const src = inFolder('src');
const core = src.filter(({ path }) => /^src\/((verify|receiver|dedupe)\/)?[^/]+$/.test(path));
const allAdapters = inFolder('adapters');
const adapters = allAdapters.filter(({ path }) => posix.dirname(path) === 'adapters');
const shared = allAdapters.filter(({ path }) => posix.dirname(path) === 'adapters/shared');
/** The packages beside the receiver. */
const beside = PACKAGES.filter((folder) => folder !== '.').map((folder) => ({
  folder,
  files: inFolder(`${folder}/src`),
  manifest: JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')),
}));
const sources = [...src, ...allAdapters, ...beside.flatMap(({ files }) => files)];

/** `file -> what it imports` for each import that is not allowed. */
function offences(files: readonly Source[], allowed: (imported: Import) => boolean): string[] {
  return files.flatMap(({ path, imports }) =>
    imports.filter((imported) => !allowed(imported)).map(({ to }) => `${path} -> ${to}`),
  );
}

const isFile = (to: string) => /^\.*\/|^(?:src|adapters|test|fixtures|packages)\/|^package\.json$/.test(to);

describe('imports', () => {
  it('the walk finds the files it judges', () => {
    expect(core.map(({ path }) => path)).toContain('src/receiver/receiver.ts');
    expect(adapters.map(({ path }) => path)).toContain('adapters/express.ts');
    expect(shared).not.toEqual([]);
    expect(src.flatMap(({ imports }) => imports).length).toBeGreaterThan(50);
  });

  it('src stays inside src', () => {
    expect(offences(src, ({ to }) => !isFile(to) || to.startsWith('src/'))).toEqual([]);
  });

  it('the core and the stores need nothing from outside at run time', () => {
    const dependencyFree = src.filter(({ path }) =>
      /^src\/((verify|receiver|dedupe|stores(\/\w+)?)\/)?[^/]+$/.test(path),
    );
    expect(offences(dependencyFree, ({ to, typeOnly }) => typeOnly || isFile(to))).toEqual([]);
  });

  it('the core knows no store but the memory one', () => {
    const known = ['src/stores/contract.ts', 'src/stores/memory.ts'];
    expect(offences(core, ({ to }) => !to.startsWith('src/stores/') || known.includes(to))).toEqual([]);
  });

  it('an adapter knows the public entry, what adapters share, and the types of its framework', () => {
    const allowed = ({ to, typeOnly }: Import) =>
      to === 'service-webhooks' || to.startsWith('adapters/shared/') || (typeOnly && !isFile(to));
    expect(offences([...adapters, ...shared], allowed)).toEqual([]);
  });

  it.each(beside)(
    '$folder imports its own files, and packages that its package.json lists',
    ({ folder, files, manifest }) => {
      expect(files.length).toBeGreaterThan(10);
      const listed = { ...manifest.dependencies, ...manifest.peerDependencies };
      // Bundled for the browser.
      if (folder === 'packages/cli') Object.assign(listed, { preact: '' });
      const allowed = ({ to }: Import) =>
        isFile(to) ? to.startsWith(`${folder}/`) : to.startsWith('node:') || packageOf(to) in listed;
      expect(offences(files, allowed)).toEqual([]);
    },
  );

  it('the receiver imports none of the packages beside it', () => {
    expect(offences([...src, ...allAdapters], ({ to }) => !/^service-webhooks-/.test(to))).toEqual([]);
  });

  it.each(['.', ...beside.map(({ folder }) => folder)])('no file of %s imports itself through others', (folder) => {
    expect(cyclesIn(graphOf(filesOf(folder), (path) => path))).toEqual([]);
  });

  it.each(['.', ...beside.map(({ folder }) => folder)])('no folder of %s imports itself through others', (folder) => {
    expect(cyclesIn(graphOf(filesOf(folder), (path) => folderOf(sourcesOf(folder), path)))).toEqual([]);
  });
});

describe('CONTRIBUTING.md', () => {
  it('draws every import between the folders and the packages, and no other', () => {
    const [, drawing = ''] = /```mermaid\n(.*?)```/s.exec(readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')) ?? [];
    const arrows = drawing.replace(/\["[^"]*"\]/g, '').match(/[\w-]+ --> [\w-]+/g) ?? [];
    const nameOf = (folder: string) => (folder === '.' ? 'root' : folder.replace('packages/', ''));
    const between = beside.flatMap(({ folder, files }) =>
      files.flatMap(({ imports }) =>
        imports
          .map(({ to }) => /^service-webhooks(?:-(\w+))?(?:\/|$)/.exec(to))
          .filter((found) => found !== null)
          .map(([, other = 'root']) => `${nameOf(folder)} --> ${other}`),
      ),
    );
    const inside = ['.', ...beside.map(({ folder }) => folder)].flatMap((folder) => {
      const prefix = folder === '.' ? '' : `${nameOf(folder)}_`;
      const nameIn = (part: string) => prefix + part.slice(part.lastIndexOf('/') + 1);
      const graph = graphOf(filesOf(folder), (path) => folderOf(sourcesOf(folder), path));
      return [...graph].flatMap(([from, others]) => [...others].map((to) => `${nameIn(from)} --> ${nameIn(to)}`));
    });
    expect(arrows.toSorted()).toEqual([...new Set([...inside, ...between, 'adapters --> root'])].sort());
  });
});

/** `service-webhooks` for `service-webhooks/testing`, `@scope/name` for `@scope/name/file`. */
function packageOf(name: string): string {
  return /^(@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name;
}

function sourcesOf(folder: string): string {
  return folder === '.' ? 'src' : `${folder}/src`;
}

function filesOf(folder: string): readonly Source[] {
  return beside.find((one) => one.folder === folder)?.files ?? src;
}

/** The folder of `start` that a file is in. The files of `start` itself are in none: every folder may import them. */
function folderOf(start: string, path: string): string | undefined {
  const [folder, ...rest] = path.slice(start.length + 1).split('/');
  return rest.length === 0 ? undefined : `${start}/${folder}`;
}

/** What each part of a package imports from the others. */
function graphOf(files: readonly Source[], partOf: (path: string) => string | undefined): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>();
  for (const { path, imports } of files) {
    const part = partOf(path);
    if (part === undefined) continue;
    const imported = imports.flatMap(({ to }) => (isFile(to) ? (partOf(to) ?? []) : []));
    graph.set(part, new Set([...(graph.get(part) ?? []), ...imported.filter((other) => other !== part)]));
  }
  return graph;
}

/** The shortest way of each part back to itself. */
function cyclesIn(graph: Map<string, Set<string>>): string[] {
  return [...graph.keys()].flatMap((start) => {
    const seen = new Set<string>();
    const ways = [[start]];
    for (const way of ways) {
      for (const next of graph.get(way.at(-1) as string) ?? []) {
        if (next === start) return [[...way, start].join(' -> ')];
        if (!seen.has(next)) ways.push([...way, next]);
        seen.add(next);
      }
    }
    return [];
  });
}

describe('files', () => {
  it('no file is called utils, types, helpers or common', () => {
    const names = sources.filter(({ path }) => /(^|\/)(utils|types|helpers|common)(\.ts$|\/)/.test(path));
    expect(names.map(({ path }) => path)).toEqual([]);
  });

  it('no class is anything but an error, except the base class of Durable Objects', () => {
    const classes = sources.flatMap(({ text }) => classesIn(text));
    expect(classes.filter(({ base }) => !/Error\b/.test(base)).map(({ name }) => name)).toEqual(['DedupeObject']);
    expect(classes.map(({ name }) => name)).toContain('WebhookError');
  });

  it.each(adapters)('$path has fewer than 60 lines of code', ({ text }) => {
    expect(linesOfCode(text)).toBeLessThan(60);
    expect(linesOfCode(text)).toBeGreaterThan(5);
  });

  it('no file has 300 lines of code or more', () => {
    const long = sources
      .map(({ path, text }) => ({ path, lines: linesOfCode(text) }))
      .filter(({ lines }) => lines >= 300);
    expect(long).toEqual([]);
  });
});

/** Each class of a source, and what it extends. */
function classesIn(text: string): { name: string | undefined; base: string }[] {
  const file = ts.createSourceFile('source.tsx', text, ts.ScriptTarget.ESNext, true);
  const found: { name: string | undefined; base: string }[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isClassLike(node)) {
      found.push({ name: node.name?.text, base: node.heritageClauses?.map((clause) => clause.getText()).join() ?? '' });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** Without comments, empty lines, and statements that describe types only: interfaces, type imports, overloads. */
function linesOfCode(text: string): number {
  const file = ts.createSourceFile('source.tsx', text, ts.ScriptTarget.ESNext, true);
  const code = file.statements
    .filter((statement) => !isTypeOnly(statement))
    .map((statement) => statement.getText(file));
  const lines = code
    .join('\n')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .split('\n');
  return lines.filter((line) => !/^\s*(\/\/.*)?$/.test(line)).length;
}

function isTypeOnly(statement: ts.Statement): boolean {
  if (ts.isImportDeclaration(statement)) return statement.importClause?.isTypeOnly === true;
  if (ts.isExportDeclaration(statement)) return statement.isTypeOnly;
  if (ts.isFunctionDeclaration(statement)) return statement.body === undefined;
  return [ts.isInterfaceDeclaration, ts.isTypeAliasDeclaration, ts.isModuleDeclaration].some((is) => is(statement));
}
