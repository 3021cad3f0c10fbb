import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { subpaths } from '../scripts/subpaths.js';
import { commandLine } from '../tsup.config.js';

const file = (path: string) => new URL(`../${path}`, import.meta.url);
const read = (path: string) => readFileSync(file(path), 'utf8');
const manifest = JSON.parse(read('package.json'));
const lock = JSON.parse(read('package-lock.json'));
const entries = Object.entries<{ import: string; require: string } | string>(manifest.exports).filter(
  ([, target]) => typeof target !== 'string',
);

describe('installing the package', () => {
  it('brings no other package along', () => {
    for (const kind of ['dependencies', 'optionalDependencies', 'bundleDependencies', 'bundledDependencies']) {
      expect(manifest[kind] ?? {}, kind).toEqual({});
    }
  });

  it('asks for no framework: each one is an optional peer', () => {
    const required = Object.keys(manifest.peerDependencies).filter(
      (name) => !manifest.peerDependenciesMeta[name].optional,
    );
    expect(required).toEqual([]);
  });

  it('runs nothing', () => {
    for (const script of ['preinstall', 'install', 'postinstall', 'prepare']) {
      expect(manifest.scripts).not.toHaveProperty(script);
    }
  });

  it('is possible from the Node version on that the types are those of', () => {
    expect(manifest.engines).toEqual({ node: '>=20.19.0' });
    expect(manifest.devDependencies['@types/node']).toMatch(/^20\./);
  });
});

describe('.ci/run', () => {
  it("its first step runs the README's two commands, as they are written there", () => {
    const [, commands = ''] = /```sh\n(npm ci && [^`]+)```/.exec(read('README.md')) ?? [];
    expect(commands.split('\n')).toHaveLength(3);
    expect(read('.ci/run')).toContain(`<<'README'\n${commands}README\n`);
  });
});

describe('npm ci in a clone', () => {
  const packages = Object.entries<{ hasInstallScript?: boolean; version: string }>(lock.packages);

  it('compiles nothing: only esbuild has a script that runs, which looks after its binary', () => {
    const withScript = packages.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path);
    expect(withScript.filter((path) => !/(^|\/)node_modules\/(esbuild|fsevents)$/.test(path))).toEqual([
      'node_modules/msgpackr-extract', // an optional part of BullMQ
    ]);
    expect(manifest.allowScripts).toEqual({ 'msgpackr-extract': false });
    expect(
      packages.filter(([path]) => /\/(node-gyp|node-gyp-build|prebuild-install|node-pre-gyp)$/.test(path)),
    ).toEqual([]);
  });

  it('has the very versions that were tested', () => {
    const loose = Object.entries<string>(manifest.devDependencies).filter(
      ([, range]) => !/^(npm:.+@)?\d+\.\d+\.\d+$/.test(range),
    );
    expect(loose).toEqual([]);
    expect(lock.packages[''].devDependencies).toEqual(manifest.devDependencies);
  });
});

describe('the entries of the package', () => {
  it.each(subpaths)('$name is the same source for TypeScript as for the build and the tests', ({ name, source }) => {
    const { config } = ts.readConfigFile(fileURLToPath(file('tsconfig.json')), ts.sys.readFile);
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, fileURLToPath(file('.')));
    const from = fileURLToPath(file('test/package.test.ts'));
    const { resolvedModule } = ts.resolveModuleName(name, from, options, ts.sys);
    expect(resolvedModule?.resolvedFileName).toBe(fileURLToPath(file(source)));
  });

  it.each(entries)(
    '%s has a file for import and one for require, beside which TypeScript finds the types',
    (subpath, target) => {
      const dist = `./dist/${subpath === '.' ? 'index' : subpath.slice(2)}`;
      expect(target).toEqual({ import: `${dist}.js`, require: `${dist}.cjs` });
    },
  );

  it('are also found by resolvers that know no exports, as far as the core goes', () => {
    expect(manifest.main).toBe(manifest.exports['.'].require);
    expect(manifest.types).toBe(manifest.main.replace(/\.cjs$/, '.d.cts'));
  });

  it('may be left out of a bundle where nothing of them is used', () => {
    expect(manifest.sideEffects).toBe(false);
  });
});

describe('the program of the package', () => {
  it('is what is built', () => {
    const [name = ''] = Object.keys(commandLine.entry);
    expect(manifest.bin).toEqual({ [manifest.name]: `${commandLine.outDir}/${name}.cjs` });
  });
});

describe('what others made and the package includes', () => {
  const sources = readdirSync(file('src'), { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\.tsx?$/.test(path),
  );
  const imports = sources.flatMap((path) => [
    ...read(`src/${path}`).matchAll(/^import (?!type )[^;]*from '([^'.][^']*)'/gm),
  ]);
  const packageOf = (name = '') => name.replace(/^([^@/]+|@[^/]+\/[^/]+)\/.*/, '$1');
  const names = new Set(
    imports
      .map(([, name]) => packageOf(name))
      // A peer stays an import: it is the user's own.
      .filter((name) => !/^(node:|service-webhooks)/.test(name) && !(name in manifest.peerDependencies)),
  );

  it.each([...names].map((name) => (name === '@commander-js/extra-typings' ? 'commander' : name)))(
    '%s has its licence in NOTICE',
    (name) => {
      expect(manifest.devDependencies).toHaveProperty(name);
      const words = (text: string) => text.split(/\s+/).join(' ').trim();
      expect(words(read('NOTICE'))).toContain(`${name} ${words(read(`node_modules/${name}/LICENSE`))}`);
    },
  );
});

describe('the files of the package', () => {
  it('are what is built and what is read, and each is there', () => {
    const { files } = manifest as { files: string[] };
    expect(files).toContain('dist');
    expect(files.filter((path) => /^(src|adapters|test|scripts|demo|\.)/.test(path))).toEqual([]);
    // What is built, and what is left out in every folder, may be nowhere on this machine.
    const kept = files.map((path) => path.replace(/^!/, '')).filter((path) => !/^dist|\*\*/.test(path));
    for (const path of [...kept, 'LICENSE', 'README.md']) {
      expect(existsSync(file(path)), path).toBe(true);
    }
    expect(manifest.license).toBe('MIT');
    expect(read('LICENSE')).toMatch(/^MIT License/);
  });

  it('SECURITY.md names files that exist', () => {
    const paths = [...read('SECURITY.md').matchAll(/`([\w.-]*\/[\w./-]*|\w[\w.-]*\.(?:md|js|json|ts|mjs))`/g)].map(
      ([, path = '']) => path,
    );
    expect(paths.length).toBeGreaterThan(10);
    expect(paths.filter((path) => !existsSync(file(path)))).toEqual([]);
  });
});
