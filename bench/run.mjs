// All benches, one after the other: `npm run bench`, or `npm run bench -- memory verify` for some of them. Each says
// which of its goals it meets; the exit code is 1 where one does not. They want a machine to themselves.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const BENCHES = {
  memory: 'stores/memory.bench.mjs',
  redis: 'stores/redis.bench.mjs',
  postgres: 'stores/postgres.bench.mjs',
  verify: 'verify.bench.mjs',
  served: 'served.bench.mjs',
  flood: 'flood.bench.mjs',
  entries: 'entries.bench.mjs',
  cli: 'cli.bench.mjs',
  emulator: 'emulator.bench.mjs',
};

const here = import.meta.dirname;
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in BENCHES));
if (unknown.length > 0) {
  console.error(`There is no bench ${unknown.join(', ')}: choose from ${Object.keys(BENCHES).join(', ')}.`);
  process.exit(2);
}

if (!existsSync(join(here, 'node_modules'))) run('npm', ['ci', '--no-audit', '--no-fund'], here);
run('npm', ['run', '--silent', 'build'], join(here, '..'), 'ignore');
const missed = Object.entries(BENCHES)
  .filter(([name]) => wanted.length === 0 || wanted.includes(name))
  .filter(([name, file]) => {
    console.log(`\n== ${name}`);
    return run(process.execPath, [join(here, file)], here) !== 0;
  });
if (missed.length > 0) {
  console.log(`\nNot every goal was met: ${missed.map(([name]) => name).join(', ')}`);
  process.exitCode = 1;
}

function run(command, args, cwd, stdio = 'inherit') {
  return spawnSync(command, args, { cwd, stdio, shell: process.platform === 'win32' }).status;
}
