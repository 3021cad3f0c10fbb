import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { PACKAGES, root } from '../../scripts/subpaths.js';

/** What npm says of a tarball. */
export interface Tarball {
  /** The paths in it. */
  paths: string[];
  /** Its size in bytes. */
  size: number;
  /** The size of its files in bytes. */
  unpackedSize: number;
}

/** A folder outside the repository with nothing but packages, installed by npm from their tarballs. */
export interface Installed {
  /** The receiver. */
  alone: string;
  /** The receiver, the command line, the emulator and the suites, with their dependencies. */
  together: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    installed: Installed;
    /** The tarballs by the names of their packages. */
    tarballs: Record<string, Tarball>;
  }
}

interface Packed {
  name: string;
  filename: string;
  files: { path: string }[];
  size: number;
  unpackedSize: number;
}

/** Packs the packages and installs the tarballs, once for all the tests. */
export default function pack(project: TestProject) {
  for (const path of ['dist/index.d.cts', 'packages/suites/dist/index.d.cts']) {
    if (!existsSync(join(root, path))) throw new Error('There is no build to pack: npm run build');
  }
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'package-'));
  const folders = PACKAGES.map((path) => join(root, path));
  const packed: Packed[] = JSON.parse(
    npm(root, 'pack', '--json', '--ignore-scripts', '--pack-destination', folder, ...folders),
  );
  const [receiver = '', ...others] = packed.map(({ filename }) => join(folder, filename));
  const installed = {
    alone: install(join(folder, 'alone'), [receiver]),
    together: install(join(folder, 'together'), [receiver, ...others, ...dependencies(), '--ignore-scripts']),
  };

  project.provide('installed', installed);
  project.provide(
    'tarballs',
    Object.fromEntries(
      packed.map(({ name, files, size, unpackedSize }) => [
        name,
        { paths: files.map(({ path }) => path), size, unpackedSize },
      ]),
    ),
  );
  return () => rmSync(folder, { recursive: true, force: true });
}

/** Installs in a project without a name of its own, and without a network. */
function install(folder: string, what: string[]): string {
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  npm(folder, 'install', '--offline', '--no-audit', '--no-fund', ...what);
  return folder;
}

/**
 * The folders of what the packages depend on, as the repository has it installed. npm links them, and fails where one is
 * of a version that a package does not accept. Packages that they need are found where the repository has them.
 */
function dependencies(): string[] {
  const manifests = PACKAGES.map((folder) => join(root, folder, 'package.json'));
  const own = manifests.map((path) => JSON.parse(readFileSync(path, 'utf8')).name);
  return manifests.flatMap((path) => {
    const names = Object.keys(JSON.parse(readFileSync(path, 'utf8')).dependencies ?? {});
    const places = createRequire(path).resolve.paths('any') ?? [];
    return names
      .filter((name) => !own.includes(name))
      .map((name) => {
        const found = places.map((place) => join(place, name)).find((place) => existsSync(place));
        if (found === undefined) throw new Error(`${name} is not installed: npm ci`);
        return realpathSync(found);
      });
  });
}

function npm(cwd: string, ...args: string[]): string {
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  return execFileSync('npm', ['--loglevel=error', ...args], {
    cwd,
    encoding: 'utf8',
    stdio: [...stdio],
    shell: process.platform === 'win32',
  });
}
