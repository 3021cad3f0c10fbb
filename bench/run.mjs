// The benches, one after the other: `npm run bench`, or `npm run bench -- verify served` for some of them. They need a
// machine to themselves.
//
//   --node 24            on another line of Node: 20, 22, 24 or 26, as `npm run test:runtimes` installs them
//   --against <folder>   beside another checkout, built by `npm run build` there (verify and served)
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const BENCHES = {
  memory: 'stores/memory.bench.mjs',
  redis: 'stores/redis.bench.mjs',
  postgres: 'stores/postgres.bench.mjs',
  sqlite: 'stores/sqlite.bench.mjs',
  verify: 'verify.bench.mjs',
  served: 'served.bench.mjs',
  latency: 'latency.bench.mjs',
  flood: 'flood.bench.mjs',
  entries: 'entries.bench.mjs',
  cli: 'cli.bench.mjs',
  emulator: 'emulator.bench.mjs',
};

const here = import.meta.dirname;
const root = join(here, '..');
const { values, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: { node: { type: 'string' }, against: { type: 'string' } },
});
const unknown = wanted.filter((name) => !(name in BENCHES));
if (unknown.length > 0) {
  console.error(`There is no bench ${unknown.join(', ')}: choose from ${Object.keys(BENCHES).join(', ')}.`);
  process.exit(2);
}

const node = nodeOf(values.node);
if (values.against) process.env.AGAINST = resolve(values.against);
run('npm', ['run', '--silent', 'build'], root, 'ignore');
const missed = Object.entries(BENCHES)
  .filter(([name]) => wanted.length === 0 || wanted.includes(name))
  .filter(([name, file]) => {
    console.log(`\n== ${name}`);
    return run(node, [join(here, file)], here) !== 0;
  });
if (missed.length > 0) {
  console.log(`\nNot every goal was met: ${missed.map(([name]) => name).join(', ')}`);
  process.exitCode = 1;
}

/** The program of a line of Node. */
function nodeOf(line) {
  if (line === undefined) return process.execPath;
  const program = join(root, `test/runtimes/node_modules/node-${line}/bin/node`);
  if (!existsSync(program)) run(process.execPath, ['test/integration/install.mjs', 'test/runtimes'], root);
  if (existsSync(program)) return program;
  console.error(`There is no Node ${line}: choose 20, 22, 24 or 26.`);
  process.exit(2);
}

function run(command, args, cwd, stdio = 'inherit') {
  return spawnSync(command, args, { cwd, stdio, shell: process.platform === 'win32' }).status;
}
