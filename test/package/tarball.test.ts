import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { root } from '../../scripts/subpaths.js';
import { filesNamedIn, manifest } from './consumer.js';
import type { Tarball } from './pack.js';

const folder = join(inject('installed').alone, 'node_modules', manifest.name);
const { paths: packed, size, unpackedSize } = inject('tarballs')[manifest.name] as Tarball;
const read = (path: string) => readFileSync(join(folder, path), 'utf8');

/** What there is to find in the tarball, by folder. All of it is text. */
const KINDS = [
  /^(package\.json|LICENSE|(README|CHANGELOG|SECURITY)\.md)$/,
  /^skills\/service-webhooks\/SKILL\.md$/,
  /^fixtures\/(README\.md|(vectors|queued-deliveries)\.json|(refused-)?deliveries\/[a-z_.-]+\.http)$/,
  /^schemas\/[a-z]+\.json$/,
  /^sql\/[a-z-]+\.sql$/,
  /^docs\/monitoring\/(dashboard\.json|alerts\.yml)$/,
  /^dist\/(stores\/|testing\/|queue\/)?[\w-]+\.(js|cjs|d\.ts|d\.cts)$/,
];

describe('the tarball of service-webhooks', () => {
  it('no test, source, source map or stray file is published', () => {
    expect(packed.filter((path) => !KINDS.some((kind) => kind.test(path)))).toEqual([]);
    expect(
      packed.filter((path) => /(^|\/)(test|node_modules|coverage|\.[^/]*|package-lock\.json)(\/|$)/.test(path)),
    ).toEqual([]);
    // Each kind is there, so that none of them lets through what is not published.
    expect(KINDS.filter((kind) => !packed.some((path) => kind.test(path)))).toEqual([]);
  });

  it('the size is at most 480 000 bytes, and 2 150 000 unpacked', () => {
    expect(size).toBeLessThanOrEqual(480_000);
    expect(unpackedSize).toBeLessThanOrEqual(2_150_000);
  });

  it('the package installs no command', () => {
    expect(manifest.bin).toBeUndefined();
    expect(packed.filter((path) => read(path).startsWith('#!'))).toEqual([]);
    expect(existsSync(join(folder, '../.bin'))).toBe(false);
  });

  it('the vectors are in it once', () => {
    const vectors: Vector[] = JSON.parse(read('fixtures/vectors.json'));
    const bodies = vectors.map(({ bodyBase64 }) => bodyBase64).filter((body) => body.length > 40);
    const signatures = vectors.flatMap(({ headers }) => headers.join().match(/\b[0-9a-f]{64}\b/g) ?? []);
    expect(Math.min(bodies.length, signatures.length)).toBeGreaterThan(100);
    const again = packed.filter((path) => {
      const text = read(path);
      return path !== 'fixtures/vectors.json' && [...bodies, ...signatures].some((words) => text.includes(words));
    });
    expect(again).toEqual([]);
  });

  it('every file that an entry of package.json names exists', () => {
    expect(filesNamedIn(manifest).filter((path) => !packed.includes(path))).toEqual([]);
  });

  it('every built file is reached from an entry', () => {
    const reached = new Set(filesNamedIn(manifest));
    for (const path of reached) for (const next of importsOf(path)) reached.add(next);
    expect(packed.filter((path) => path.startsWith('dist/') && !reached.has(path))).toEqual([]);
  });

  it('no file names the building machine or a source map', () => {
    const saying = packed.filter((path) => {
      const text = read(path);
      return text.includes(root.replace(/[\\/]$/, '')) || /[#@] sourceMappingURL=/.test(text);
    });
    expect(saying).toEqual([]);
  });

  // The README is read in the repository and on npm's site, where its links lead to the repository.
  it('the links of every page but the README lead to a file', () => {
    const links = packed
      .filter((path) => path.endsWith('.md') && path !== 'README.md')
      .flatMap((page) =>
        [...read(page).matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)/g)].map(([, link = '']) => ({ page, link })),
      );
    expect(links.filter(({ page, link }) => !existsSync(join(folder, dirname(page), link)))).toEqual([]);
  });
});

interface Vector {
  headers: string[][];
  bodyBase64: string;
}

/** The files that one file of the tarball imports, requires (also by `createRequire(url)(…)`), or takes types from. */
function importsOf(path: string): string[] {
  if (path.endsWith('.json')) return [];
  return [...read(path).matchAll(/(?:from|import|require\(|import\(|\)\()\s*["'](\.\.?\/[\w./-]+\.c?js)["']/g)].map(
    ([, target = '']) => {
      const found = relative(folder, join(folder, dirname(path), target));
      if (path.endsWith('.d.ts')) return found.replace(/\.js$/, '.d.ts');
      if (path.endsWith('.d.cts')) return found.replace(/\.cjs$/, '.d.cts');
      return found;
    },
  );
}
