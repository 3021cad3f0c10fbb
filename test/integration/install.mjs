// Installs what is tested against and stands apart from the root: each folder here with a package.json of its own.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const here = import.meta.dirname;

for (const { name } of readdirSync(here, { withFileTypes: true })) {
  const folder = join(here, name);
  if (!existsSync(join(folder, 'package.json')) || isInstalled(folder)) continue;
  console.log(`Installing test/integration/${name}, once; a native part may take two minutes to compile.`);
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  // The tests say what they skip for want of it; in CI that is a failure.
  if (status !== 0) console.warn(`test/integration/${name} could not be installed.`);
}

/** Whether every package of the lock file is there in its version. */
function isInstalled(folder) {
  const hidden = join(folder, 'node_modules/.package-lock.json');
  if (!existsSync(hidden)) return false;
  const there = packagesOf(hidden);
  return Object.entries(packagesOf(join(folder, 'package-lock.json'))).every(
    ([path, { version, optional }]) => path === '' || optional || there[path]?.version === version,
  );
}

function packagesOf(lockFile) {
  return JSON.parse(readFileSync(lockFile, 'utf8')).packages;
}
