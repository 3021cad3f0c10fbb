// Fuzzes the header parser and the envelope, led by coverage: an input that takes a new branch, or comes nearer to a
// bound, is kept and changed further. FUZZ_SECONDS for each (60). Before that the same is done to a library with one
// fault at a time, from FUZZ_TRIALS seeds (10): a search that misses a fault has proved nothing.
import { randomInt } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildSource } from './build-source.mjs';
import { envelopeTarget } from './coverage-fuzz/envelope-target.mjs';
import { headerTarget } from './coverage-fuzz/header-target.mjs';
import { instrument } from './coverage-fuzz/instrument.mjs';
import { mutateBytes } from './coverage-fuzz/mutate-bytes.mjs';
import { mutateTokens } from './coverage-fuzz/mutate-tokens.mjs';
import { search } from './coverage-fuzz/search.mjs';
import { seededRandom } from './seeded-random.mjs';
import { writeResult } from './write-result.mjs';

const { FUZZ_SECONDS = '60', FUZZ_TRIALS = '10', FUZZ_SEED = randomInt(2 ** 31) } = process.env;
const [SECONDS, TRIALS, SEED] = [FUZZ_SECONDS, FUZZ_TRIALS, FUZZ_SEED].map(Number);
/** What a planted fault has to be found within. Counted in inputs, a seed gives the same on every machine. */
const FAULT_RUNS = 1_000_000;
const TARGETS = { header: headerTarget, envelope: envelopeTarget };
const SUBJECTS = 'scripts/evidence/coverage-fuzz/subjects.ts';
const folder = join(import.meta.dirname, '../../.tmp/evidence');

await buildSource(SUBJECTS);
const built = readFileSync(join(folder, `${SUBJECTS.replaceAll('/', '-').replace('.ts', '.mjs')}`), 'utf8');
console.log(`FUZZ_SEED=${SEED} npm run fuzz:coverage`);

let loaded = 0;
function load(code) {
  loaded += 1;
  const path = join(folder, `fuzzed-${loaded}.mjs`);
  writeFileSync(path, instrument(code));
  return import(pathToFileURL(path));
}

function planted([right, wrong]) {
  const [before, after, ...more] = built.split(right);
  if (after === undefined || more.length > 0) throw new Error(`not once in the library: ${right}`);
  return load(`${before}${wrong}${after}`);
}

function searchIn(subjects, target, seed, isOver) {
  const random = seededRandom(seed);
  const mutators = [mutateBytes, mutateTokens, target.mutate, target.mutate];
  const mutate = (input, other) => mutators[random(mutators.length)](input, other, target, random);
  const judge = (input) => target.judge(subjects, input);
  return search({ seeds: target.seeds, judge, accepts: target.accepts, mutate, random, isOver });
}

async function findFaults(target) {
  const figures = [];
  for (const fault of target.faults) {
    const subjects = await planted(fault);
    const trials = Array.from({ length: TRIALS }, (_, i) =>
      searchIn(subjects, target, SEED + i, (runs) => runs >= FAULT_RUNS),
    );
    const found = trials.filter((trial) => trial.found).length;
    const runs = Math.max(...trials.map((trial) => trial.runs));
    console.log(`${fault[1]} in place of ${fault[0]}: found ${found} times of ${TRIALS}, within ${runs} inputs`);
    figures.push({ right: fault[0], wrong: fault[1], found, runs });
  }
  return figures;
}

const unharmed = await load(built);
const figures = [];
for (const [name, target] of Object.entries(TARGETS)) {
  console.log(`\n${name}`);
  const faults = await findFaults(target);
  const end = performance.now() + SECONDS * 1_000;
  const result = searchIn(unharmed, target, SEED, () => performance.now() > end);
  console.log(`${result.found ? 'SOMETHING' : 'nothing'} found in the library`, result);
  figures.push({ target: name, ...result, faults });
}

writeResult('coverage-fuzz', {
  command: 'npm run fuzz:coverage',
  bar: `no input that the library and a second reading judge differently, and each planted fault found from ${TRIALS} seeds`,
  passed: figures.every(({ found, faults }) => found === null && faults.every((fault) => fault.found === TRIALS)),
  figures: { seconds: SECONDS, trials: TRIALS, seed: SEED, targets: figures },
});
