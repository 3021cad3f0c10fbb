// How long the command line takes to start: `--help` beside a Node that does nothing, in turns.
//
//   npm run build && node bench/cli.bench.mjs
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { median } from './interleaved.mjs';

const TURNS = 31;
const PROGRAM = fileURLToPath(new URL('../packages/cli/dist/service-webhooks.cjs', import.meta.url));
const CONTENDERS = {
  'node -e 0': ['-e', '0'],
  '--help': [PROGRAM, '--help'],
  'send --help': [PROGRAM, 'send', '--help'],
  'doctor --help': [PROGRAM, 'doctor', '--help'],
};

const times = Object.fromEntries(Object.keys(CONTENDERS).map((name) => [name, []]));
for (let turn = 0; turn < TURNS; turn += 1) {
  for (const [name, args] of Object.entries(CONTENDERS)) times[name].push(startUp(args));
}
const limit = 1.3 * median(times['node -e 0']) + 60;
const results = Object.entries(times).map(([name, all]) => ({ name, ms: median(all) }));
for (const { name, ms } of results) console.log(`${name.padEnd(16)}${ms.toFixed(1).padStart(8)} ms`);
const met = median(times['--help']) <= limit;
console.log(`--help ${met ? 'ok' : 'MISSED'}, at most 1.3 times node -e 0 plus 60 ms: ${limit.toFixed(1)} ms`);
if (process.send) process.send(results);
process.exitCode = met ? 0 : 1;

function startUp(args) {
  const begun = performance.now();
  const { status } = spawnSync(process.execPath, args, { stdio: 'ignore' });
  if (status !== 0) throw new Error(`node ${args.join(' ')}: ${status}`);
  return performance.now() - begun;
}
