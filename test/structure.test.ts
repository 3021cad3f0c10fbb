import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

interface Import {
  /** The name as it is written, or the path from the root where it is a file of this repository. */
  to: string;
  typeOnly: boolean;
}

// Import lines as the formatter leaves them: `import … from`, `export … from`, `import '…'`, `import('…')`.
const STATIC = /^(?:import|export)( type)?\s[^;']*from '([^']+)';|^import '([^']+)';/gm;
const DYNAMIC = /(typeof )?\bimport\('([^']+)'\)/g;

function read(path: string) {
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

const sources = ['src', 'adapters'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => read(`${folder}/${file.replaceAll('\\', '/')}`)),
);
const src = sources.filter(({ path }) => path.startsWith('src/'));
const core = src.filter(({ path }) => posix.dirname(path) === 'src');
const adapters = sources.filter(({ path }) => posix.dirname(path) === 'adapters');
const shared = sources.filter(({ path }) => posix.dirname(path) === 'adapters/shared');

/** `file -> what it imports` for each import that is not allowed. */
function offences(files: typeof sources, allowed: (imported: Import) => boolean): string[] {
  return files.flatMap(({ path, imports }) =>
    imports.filter((imported) => !allowed(imported)).map(({ to }) => `${path} -> ${to}`),
  );
}

const isFile = (to: string) => /^\.*\/|^(?:src|adapters|test|fixtures)\//.test(to);

describe('imports', () => {
  it('the walk finds the files it judges', () => {
    expect(core.map(({ path }) => path)).toContain('src/receiver.ts');
    expect(adapters.map(({ path }) => path)).toContain('adapters/express.ts');
    expect(shared).not.toEqual([]);
    expect(src.flatMap(({ imports }) => imports).length).toBeGreaterThan(50);
  });

  it('src stays inside src', () => {
    expect(offences(src, ({ to }) => !isFile(to) || to.startsWith('src/'))).toEqual([]);
  });

  it('the core and the stores need nothing from outside at run time', () => {
    const dependencyFree = src.filter(({ path }) => /^src\/(stores\/)?[^/]+$/.test(path));
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

  it('no file of src imports itself by way of others', () => {
    const graph = new Map(src.map(({ path, imports }) => [path, imports.map(({ to }) => to)]));
    expect([...graph.keys()].map((path) => cycleThrough(path, graph)).filter(Boolean)).toEqual([]);
  });
});

/** The shortest way from a file back to itself. */
function cycleThrough(start: string, graph: Map<string, string[]>): string | undefined {
  const seen = new Set<string>();
  const ways = [[start]];
  for (const way of ways) {
    for (const next of graph.get(way.at(-1) as string) ?? []) {
      if (next === start) return [...way, start].join(' -> ');
      if (!seen.has(next)) ways.push([...way, next]);
      seen.add(next);
    }
  }
  return undefined;
}

describe('files', () => {
  it('are named after what they are about', () => {
    const names = sources.filter(({ path }) => /(^|\/)(utils|types|helpers|common)(\.ts$|\/)/.test(path));
    expect(names.map(({ path }) => path)).toEqual([]);
  });

  it('have no class that is not an error, but for what Durable Objects are made from and what is made too often', () => {
    const classes = sources.flatMap(({ text }) => text.match(/^(?!\s*[*/]).*\bclass [\w{].*/gm) ?? []);
    const others = classes.filter((line) => !/ extends \w*Error(<.*>)? \{/.test(line));
    expect(others).toEqual([
      'class StreamBody implements Body, Sink {',
      'export class Deadline extends AbortController {',
      'class ClaimedContext implements HandlerContext {',
      'export class DedupeObject {',
      'export class NodeBody {',
    ]);
    expect(classes).toContainEqual(expect.stringContaining('class WebhookError'));
  });

  it.each(adapters)('$path has fewer than 60 lines of code', ({ text }) => {
    const code = text.replace(/\/\*[\s\S]*?\*\//g, '').split('\n');
    const lines = code.filter((line) => !/^\s*(\/\/.*)?$/.test(line));
    expect(lines.length).toBeLessThan(60);
    expect(lines.length).toBeGreaterThan(5);
  });
});
