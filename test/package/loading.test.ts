import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { subpaths } from '../../scripts/subpaths.js';
import { entriesOf, isInstalled, makeConsumer, manifest, NAMES_BY_IMPORT, NAMES_BY_REQUIRE } from './consumer.js';

const bare = makeConsumer({
  'names.mjs': NAMES_BY_IMPORT,
  'names.cjs': NAMES_BY_REQUIRE,
  'files.mjs': `import { register } from 'node:module';
    const hook = \`import { writeSync } from 'node:fs';
      export function load(url, context, next) {
        if (url.startsWith('file:')) writeSync(1, url + '\\\\n');
        return next(url, context);
      }\`;
    register('data:text/javascript,' + encodeURIComponent(hook));
    await import(process.argv[2]);`,
  'files.cjs': `require(process.argv[2]); console.log(Object.keys(require.cache).join('\\n'));`,
});
const dist = join(bare.folder, 'node_modules', manifest.name, 'dist');

/** The entries that are no use without a package of the user's own, which they load. */
const LOADING = [
  ['otel', '@opentelemetry/api'],
  ['stores/dynamodb', '@aws-sdk/client-dynamodb'],
] as const;
const alone = entriesOf(manifest).filter(
  ({ name }) => !LOADING.some(([entry]) => name === `${manifest.name}/${entry}`),
);

describe('a project with the receiver alone', () => {
  it.each(alone)('$name gives import and require the same names', ({ name }) => {
    const names = JSON.parse(bare.node(['names.mjs', name]));
    expect(names).not.toEqual([]);
    expect(names).not.toContain('default');
    expect(JSON.parse(bare.node(['names.cjs', name]))).toEqual(names);
  });

  it.each(LOADING)('loading the entry %s fails and names the missing %s', (entry, missing) => {
    for (const file of ['names.mjs', 'names.cjs']) {
      const { status, output } = bare.attempt([file, `${manifest.name}/${entry}`]);
      expect(status).toBe(1);
      expect(output).toContain(missing);
    }
  });

  it.each(Object.entries(manifest.exports).filter(([, target]) => typeof target === 'string'))(
    '%s can be required as JSON',
    (subpath) => {
      expect(bare.node(['names.cjs', `${manifest.name}${subpath.slice(1)}`])).toMatch(/^\["/);
    },
  );

  it('no other package is installed', () => {
    expect(readdirSync(join(dist, '../..')).filter((name) => !name.startsWith('.'))).toEqual([manifest.name]);
    expect(bare.attempt(['names.cjs', 'vitest']).output).toContain('MODULE_NOT_FOUND');
  });

  it('a file that is no entry cannot be required', () => {
    const { status, output } = bare.attempt(['names.cjs', `${manifest.name}/dist/index.cjs`]);
    expect(status).toBe(1);
    expect(output).toContain('ERR_PACKAGE_PATH_NOT_EXPORTED');
  });

  it('an adapter and the project load the same copy of the core', () => {
    const files = filesOf('files.mjs', `${manifest.name}/fetch`);
    expect(files.filter((path) => path === join(dist, 'index.js'))).toHaveLength(1);
  });
});

describe.skipIf(!isInstalled('consumers'))('a project with the API of OpenTelemetry', () => {
  it.each(['names.mjs', 'names.cjs'])('the entry otel loads in %s', (file) => {
    const withApi = makeConsumer({ [file]: bare.read(file) }, 'consumers');
    expect(JSON.parse(withApi.node([file, `${manifest.name}/otel`]))).not.toEqual([]);
  });
});

/** The words that are in one adapter alone: what it tells whoever parsed the body first. */
const adapters = subpaths.flatMap(({ entry, source }) => {
  if (!source.startsWith('adapters/')) return [];
  const text = sourcesOf(source).join('\n');
  const [, , words = ''] = /RAW_BODY_FIX =\s*(['"])([ -~]+?)(?:\1|…)/.exec(text) ?? [];
  return [{ entry, words }];
});

/** An adapter, and what it imports of that which adapters share. */
function sourcesOf(adapter: string): string[] {
  const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
  const text = read(adapter);
  const shared = [...text.matchAll(/from '\.\/(shared\/[\w-]+)\.js'/g)].map(([, name]) => `adapters/${name}.ts`);
  return [text, ...shared.map(read)];
}

const stores = subpaths
  .map(({ entry }) => entry)
  .filter((entry) => entry.startsWith('stores/') && !LOADING.some(([other]) => other === entry));

describe.each(['files.mjs', 'files.cjs'])('the files that %s loads', (loader) => {
  const fileOf = (entry: string) => join(dist, `${entry}.${loader.endsWith('.mjs') ? 'js' : 'cjs'}`);

  it.each(adapters)('the adapter $entry loads its own code and the core, and no other adapter', ({ entry, words }) => {
    const files = filesOf(loader, `${manifest.name}/${entry}`);
    expect(files.filter(isEntry).toSorted()).toEqual([fileOf(entry), fileOf('index')].toSorted());
    // Nor in what several share.
    expect(words).not.toBe('');
    expect(adaptersIn(files)).toEqual(adapters.filter((other) => other.words === words));
  });

  it.each([...stores, 'index'])('the entry %s loads no adapter and no other store', (entry) => {
    const files = filesOf(loader, entry === 'index' ? manifest.name : `${manifest.name}/${entry}`);
    expect(files.filter(isEntry)).toEqual([fileOf(entry)]);
    expect(adaptersIn(files)).toEqual([]);
  });
});

/** Whether it is the file of an entry, and not what several of them share. */
function isEntry(path: string): boolean {
  return !/^chunk-\w+\.c?js$/.test(basename(path));
}

/** The adapters whose words are in these files. */
function adaptersIn(files: string[]): typeof adapters {
  const text = files.map((path) => readFileSync(path, 'utf8')).join('\n');
  return adapters.filter(({ words }) => text.includes(words));
}

/** The files of the package that loading one entry loads. */
function filesOf(loader: string, name: string): string[] {
  return bare
    .node([loader, name])
    .trim()
    .split('\n')
    .map((line) => (line.startsWith('file:') ? fileURLToPath(line) : line))
    .filter((path) => path.startsWith(dist));
}
