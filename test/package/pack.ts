import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder outside the repository with nothing but the package, installed by npm from the tarball. */
    installed: string;
    /** The paths in the tarball, as npm lists them. */
    packed: string[];
  }
}

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Packs the package and installs the tarball, once for all the tests. */
export default function pack(project: TestProject) {
  if (!existsSync(join(root, 'dist/index.d.cts'))) throw new Error('There is no build to pack: npm run build');
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'package-'));
  const installed = join(folder, 'installed');
  mkdirSync(installed);
  const [{ filename, files }] = JSON.parse(
    npm(root, 'pack', '--json', '--ignore-scripts', '--pack-destination', folder),
  );
  // Without a name of its own, and without a network: it has no dependencies.
  writeFileSync(join(installed, 'package.json'), '{ "private": true }');
  npm(installed, 'install', '--offline', '--no-audit', '--no-fund', join(folder, filename));

  project.provide('installed', installed);
  project.provide(
    'packed',
    files.map(({ path }: { path: string }) => path),
  );
  return () => rmSync(folder, { recursive: true, force: true });
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
