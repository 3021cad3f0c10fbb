// Installs what is tested against and stands apart from the root: the site, and each folder here and of the examples
// that has a lock file of its own, or the folders that are named.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const here = import.meta.dirname;

// Debian's packages, where this is such a machine and we may: elsewhere they are the reader's to install.
const programs = {
  pgbouncer: '/usr/sbin/pgbouncer',
  zsh: '/usr/bin/zsh',
  fish: '/usr/bin/fish',
  chromium: '/usr/bin/chromium',
  prometheus: '/usr/bin/prometheus',
};
const wanted = Object.entries(programs).filter(([, program]) => !existsSync(program));
if (wanted.length > 0 && existsSync('/usr/bin/apt-get') && process.getuid?.() === 0) {
  const names = wanted.map(([name]) => name);
  console.log(`Installing ${names.join(', ')}.`);
  const options = { stdio: 'inherit', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } };
  spawnSync('apt-get', ['install', '--yes', '--no-install-recommends', ...names], options);
}

// A native part compiles against the headers of this Node, which need no download where they were installed with it.
const prefix = join(process.execPath, '../..');
const headers = existsSync(join(prefix, 'include/node/node.h')) ? { npm_config_nodedir: prefix } : {};

const root = join(here, '../..');
const named = process.argv.slice(2);
const folders =
  named.length > 0
    ? named
    : [
        'site',
        ...['test/integration', 'examples', 'examples/queues'].flatMap((parent) =>
          readdirSync(join(root, parent)).map((name) => `${parent}/${name}`),
        ),
      ];

for (const name of folders) {
  const folder = join(root, name);
  if (!existsSync(join(folder, 'package-lock.json')) || isInstalled(folder)) continue;
  console.log(`Installing ${name}, once; a native part may take two minutes to compile.`);
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: 'inherit',
    env: { ...headers, ...process.env },
    shell: process.platform === 'win32',
  });
  // The tests say what they skip for want of it; in CI that is a failure.
  if (status !== 0) console.warn(`${name} could not be installed.`);
}

/** Whether every package of the lock file is there in its version. */
function isInstalled(folder) {
  const hidden = join(folder, 'node_modules/.package-lock.json');
  if (!existsSync(hidden)) return false;
  const there = packagesOf(hidden);
  return Object.entries(packagesOf(join(folder, 'package-lock.json'))).every(
    ([path, { version, optional }]) =>
      !path.startsWith('node_modules/') || (there[path] ? there[path].version === version : optional),
  );
}

function packagesOf(lockFile) {
  return JSON.parse(readFileSync(lockFile, 'utf8')).packages;
}
