import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { allSubpaths, PACKAGES, typesVersionsOf } from '../scripts/subpaths.js';

const file = (path: string) => new URL(`../${path}`, import.meta.url);
const read = (path: string) => readFileSync(file(path), 'utf8');
const manifestOf = (folder: string) => JSON.parse(read(`${folder}/package.json`));
const manifest = manifestOf('.');
const beside = PACKAGES.filter((folder) => folder !== '.');
const lock = JSON.parse(read('package-lock.json'));
const entries = PACKAGES.flatMap((folder) => {
  const { name, exports } = manifestOf(folder);
  return Object.entries<{ import: string; require: string } | string>(exports)
    .filter(([, target]) => typeof target !== 'string')
    .map(([subpath, target]) => ({ name: `${name}${subpath.slice(1)}`, subpath, target }));
});

describe('installing the package', () => {
  it('the package has no dependencies', () => {
    for (const kind of ['dependencies', 'optionalDependencies', 'bundleDependencies', 'bundledDependencies']) {
      expect(manifest[kind] ?? {}, kind).toEqual({});
    }
  });

  it('every framework is an optional peer', () => {
    const required = Object.keys(manifest.peerDependencies).filter(
      (name) => !manifest.peerDependenciesMeta[name].optional,
    );
    expect(required).toEqual([]);
  });

  it('no script runs', () => {
    for (const script of ['preinstall', 'install', 'postinstall', 'prepare']) {
      expect(manifest.scripts).not.toHaveProperty(script);
    }
  });

  it('the types of Node are those of the oldest version that is supported', () => {
    expect(manifest.engines).toEqual({ node: '>=20.19.0' });
    expect(manifest.devDependencies['@types/node']).toMatch(/^20\./);
  });
});

it('the first step of .ci/run runs the two commands of the README', () => {
  const [, commands = ''] = /```sh\n(npm ci && [^`]+)```/.exec(read('README.md')) ?? [];
  expect(commands.split('\n')).toHaveLength(3);
  expect(read('.ci/run')).toContain(`<<'README'\n${commands}README\n`);
});

describe('npm ci in a clone', () => {
  const packages = Object.entries<{ hasInstallScript?: boolean; optionalDependencies?: object }>(lock.packages);

  it('no package is compiled, and only esbuild has a script that runs', () => {
    const withScript = packages.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path);
    expect(withScript.filter((path) => !/(^|\/)node_modules\/(esbuild|fsevents)$/.test(path))).toEqual([
      'node_modules/classic-level', // of dynalite: its package has the binaries
      'node_modules/msgpackr-extract', // an optional part of BullMQ
    ]);
    expect(manifest.allowScripts).toEqual({ 'classic-level': false, 'msgpackr-extract': false });
    expect(
      // Not `node-gyp-build`, which loads such a binary.
      packages.filter(([path]) => /\/(node-gyp|prebuild-install|node-pre-gyp)$/.test(path)),
    ).toEqual([]);
  });

  it('the dependencies for development have exact versions', () => {
    const loose = Object.entries<string>(manifest.devDependencies).filter(
      ([, range]) => !/^(npm:.+@)?\d+\.\d+\.\d+$/.test(range),
    );
    expect(loose).toEqual([]);
    expect(lock.packages[''].devDependencies).toEqual(manifest.devDependencies);
  });

  // Where the registry lacks one for some platform, `npm install` writes a lock file that `npm ci` refuses.
  it('the lock file has every optional part of what it locks', () => {
    const locked = new Set(packages.map(([path]) => path.replace(/^.*node_modules\//, '')));
    const missing = packages.flatMap(([, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter((name) => !locked.has(name)),
    );
    expect(missing).toEqual([]);
  });
});

describe('the entries of each package.json', () => {
  it.each(allSubpaths)('TypeScript, the build and the tests resolve $name to the same source', ({ name, source }) => {
    const { config } = ts.readConfigFile(fileURLToPath(file('tsconfig.json')), ts.sys.readFile);
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, fileURLToPath(file('.')));
    const from = fileURLToPath(file('test/package.test.ts'));
    const { resolvedModule } = ts.resolveModuleName(name, from, options, ts.sys);
    expect(resolvedModule?.resolvedFileName).toBe(fileURLToPath(file(source)));
  });

  it.each(entries)('$name has a file for import and one for require, next to the types', ({ subpath, target }) => {
    const dist = `./dist/${subpath === '.' ? 'index' : subpath.slice(2)}`;
    expect(target).toEqual({ import: `${dist}.js`, require: `${dist}.cjs` });
  });

  it.each(PACKAGES)('typesVersions of the package in %s has every sub-path that exports has', (folder) => {
    expect(manifestOf(folder).typesVersions).toEqual(typesVersionsOf(folder));
  });

  it('package.json allows a bundler to leave out modules that are not used', () => {
    expect(manifest.sideEffects).toBe(false);
  });
});

describe.each(beside)('the package in %s', (folder) => {
  const { name, version, license, engines, ...rest } = manifestOf(folder);

  it('the version, the licence and Node are those of the receiver, its peer', () => {
    expect({ version, license, engines }).toEqual({
      version: manifest.version,
      license: manifest.license,
      engines: manifest.engines,
    });
    expect(rest.peerDependencies).toEqual({ [manifest.name]: `^${manifest.version}` });
    // npm links the folder, so that a clone needs nothing that is published.
    expect(rest.devDependencies[manifest.name]).toBe('file:../..');
    expect(name).toBe(`${manifest.name}-${folder.slice('packages/'.length)}`);
  });

  it('the folder has sources, tests, a licence and a README of fewer than 60 lines', () => {
    for (const path of ['src', 'test', 'LICENSE']) expect(existsSync(file(`${folder}/${path}`)), path).toBe(true);
    expect(read(`${folder}/README.md`).split('\n').length).toBeLessThan(60);
  });
});

describe('the command line', () => {
  const { bin } = manifestOf('packages/cli');

  it('npx finds one program, with the name of the receiver', () => {
    expect(Object.keys(bin)).toEqual([manifest.name]);
    expect(manifest).not.toHaveProperty('bin');
  });

  it('NOTICE has the licence of preact, which is built into the page', () => {
    const words = (text: string) => text.split(/\s+/).join(' ').trim();
    expect(words(read('packages/cli/NOTICE'))).toContain(`preact ${words(read('node_modules/preact/LICENSE'))}`);
  });
});

describe('the files of the package', () => {
  it('the listed files exist, and no sources are among them', () => {
    const { files } = manifest as { files: string[] };
    expect(files).toContain('dist');
    expect(files.filter((path) => /^(src|adapters|test|scripts|demo|\.)/.test(path))).toEqual([]);
    // What is built, and what is left out in every folder, may be nowhere on this machine.
    const kept = files.map((path) => path.replace(/^!/, '')).filter((path) => !/^dist|\*/.test(path));
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
