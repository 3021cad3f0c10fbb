import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, inject, it } from 'vitest';
import { entries, manifest } from './consumer.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(inject('installed'), 'node_modules', manifest.name);
const packed = inject('packed');
const read = (path: string) => readFileSync(join(folder, path), 'utf8');
const textual = packed.filter((path) => !path.endsWith('.png'));

/** What there is to find in the tarball, by folder. */
const KINDS = [
  /^(package\.json|LICENSE|NOTICE|(README|CHANGELOG|CONTRIBUTING|SECURITY)\.md)$/,
  /^docs\/(quickstart\/)?[\w-]+\.(md|png|svg)$/,
  /^skills\/service-webhooks\/SKILL\.md$/,
  /^examples\/([\w-]+\/)*[+\w.-]+\.(md|html|[cm]?[jt]s|tsx|json|sql|ya?ml)$/,
  /^fixtures\/(README\.md|(vectors|(queued|recorded)-deliveries)\.json|(refused-)?deliveries\/[a-z_.-]+\.http)$/,
  /^schemas\/[a-z]+\.json$/,
  /^sql\/[a-z-]+\.sql$/,
  /^dist\/(stores\/|testing\/|queue\/)?[\w-]+\.(js|cjs|d\.ts|d\.cts)$/,
  /^dist\/cli\/[\w-]+\.cjs$/,
  /^dist\/page\/(page\.js|style\.css)$/,
];

describe('the tarball', () => {
  it('has what is published, and no test, source, source map or stray file', () => {
    expect(packed.filter((path) => !KINDS.some((kind) => kind.test(path)))).toEqual([]);
    expect(
      packed.filter((path) => /(^|\/)(test|node_modules|coverage|\.[^/]*|package-lock\.json)(\/|$)/.test(path)),
    ).toEqual([]);
    // Each kind is there, so that none of them lets through what nobody publishes any more.
    expect(KINDS.filter((kind) => !packed.some((path) => kind.test(path)))).toEqual([]);
  });

  it('has each file that an entry or the program names', () => {
    const named = [
      ...entries.flatMap(({ target }) => [target.import, target.require].flatMap(withTypes)),
      ...Object.values<string>(manifest.exports).filter((target) => typeof target === 'string'),
      ...Object.values<string>(manifest.bin),
    ].map((path) => path.replace(/^\.\//, ''));
    expect(named.filter((path) => !packed.includes(path))).toEqual([]);
  });

  it('has no built file that nothing leads to', () => {
    const first = [
      ...entries.flatMap(({ target }) => [target.import, target.require].flatMap(withTypes)),
      ...Object.values<string>(manifest.bin),
    ].map((path) => path.replace(/^\.\//, ''));
    const reached = new Set(first);
    for (const path of reached) for (const next of importsOf(path)) reached.add(next);
    const left = packed.filter((path) => path.startsWith('dist/') && !reached.has(path));
    // Served by the command line, which finds them by their names.
    expect(left).toEqual(['dist/page/page.js', 'dist/page/style.css']);
  });

  it('says nowhere on which machine it was made, and points to no source map', () => {
    const saying = textual.filter((path) => {
      const text = read(path);
      return text.includes(root) || text.includes(root.replace(/[\\/]$/, '')) || /[#@] sourceMappingURL=/.test(text);
    });
    expect(saying).toEqual([]);
  });

  it('has what its pages link to', () => {
    const links = packed
      .filter((path) => path.endsWith('.md'))
      .flatMap((page) =>
        [...read(page).matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)/g)].map(([, link = '']) => ({ page, link })),
      );
    expect(links.length).toBeGreaterThan(20);
    expect(links.filter(({ page, link }) => !existsSync(join(folder, dirname(page), link)))).toEqual([]);
  });
});

/** A file of code and the one that declares its types. */
function withTypes(path: string): string[] {
  return [path, path.replace(/\.(c?)js$/, '.d.$1ts')];
}

/** The files that one file of the tarball imports, requires (also by `createRequire(url)(…)`), or takes types from. */
function importsOf(path: string): string[] {
  return [...read(path).matchAll(/(?:from|import|require\(|import\(|\)\()\s*["'](\.\.?\/[\w./-]+\.c?js)["']/g)].map(
    ([, target = '']) => {
      const found = relative(folder, join(folder, dirname(path), target));
      if (path.endsWith('.d.ts')) return found.replace(/\.js$/, '.d.ts');
      if (path.endsWith('.d.cts')) return found.replace(/\.cjs$/, '.d.cts');
      return found;
    },
  );
}
