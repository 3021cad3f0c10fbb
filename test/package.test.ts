import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { allSubpaths, PACKAGES } from '../scripts/subpaths.js';

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

describe('the entries of the packages', () => {
  it.each(allSubpaths)('$name is the same source for TypeScript as for the build and the tests', ({ name, source }) => {
    const { config } = ts.readConfigFile(fileURLToPath(file('tsconfig.json')), ts.sys.readFile);
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, fileURLToPath(file('.')));
    const from = fileURLToPath(file('test/package.test.ts'));
    const { resolvedModule } = ts.resolveModuleName(name, from, options, ts.sys);
    expect(resolvedModule?.resolvedFileName).toBe(fileURLToPath(file(source)));
  });

  it.each(entries)(
    '$name has a file for import and one for require, beside which TypeScript finds the types',
    ({ subpath, target }) => {
      const dist = `./dist/${subpath === '.' ? 'index' : subpath.slice(2)}`;
      expect(target).toEqual({ import: `${dist}.js`, require: `${dist}.cjs` });
    },
  );

  it('may be left out of a bundle where nothing of them is used', () => {
    expect(manifest.sideEffects).toBe(false);
  });
});

describe.each(beside)('%s', (folder) => {
  const { name, version, license, engines, ...rest } = manifestOf(folder);

  it('has the version, the licence and the Node of the receiver, which it takes as a peer', () => {
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

  it('has its sources, its tests, and a README of a screen', () => {
    for (const path of ['src', 'test', 'LICENSE']) expect(existsSync(file(`${folder}/${path}`)), path).toBe(true);
    expect(read(`${folder}/README.md`).split('\n').length).toBeLessThan(60);
  });
});

describe('the command line', () => {
  const { bin } = manifestOf('packages/cli');

  it('is called by the name of the receiver, and npx takes it as the one program of its package', () => {
    expect(Object.keys(bin)).toEqual([manifest.name]);
    expect(manifest).not.toHaveProperty('bin');
  });

  it('has the licence of what is built into its page', () => {
    const words = (text: string) => text.split(/\s+/).join(' ').trim();
    expect(words(read('packages/cli/NOTICE'))).toContain(`preact ${words(read('node_modules/preact/LICENSE'))}`);
  });
});

describe('the files of the package', () => {
  it('are what is built and what is read, and each is there', () => {
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
