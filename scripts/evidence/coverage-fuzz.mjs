// Fuzzes the header parser and the envelope, led by coverage: an input that takes a new branch, or comes nearer to a
// bound, is kept and changed further. FUZZ_SECONDS for each (180). Before that the same is done to a library with one
// fault at a time, from FUZZ_TRIALS seeds (10): a search that misses a fault has proved nothing.
import { randomInt } from 'node:crypto';
import { buildSubjects } from './coverage-fuzz/build-subjects.mjs';
import { envelopeTarget } from './coverage-fuzz/envelope-target.mjs';
import { headerTarget } from './coverage-fuzz/header-target.mjs';
import { search } from './coverage-fuzz/search.mjs';
import { writeResult } from './write-result.mjs';

const { FUZZ_SECONDS = '180', FUZZ_TRIALS = '10', FUZZ_SEED = randomInt(2 ** 31) } = process.env;
const [SECONDS, TRIALS, SEED] = [FUZZ_SECONDS, FUZZ_TRIALS, FUZZ_SEED].map(Number);
/** What a planted fault has to be found within. Counted in inputs, a seed gives the same on every machine. */
const FAULT_RUNS = 1_000_000;
const TARGETS = { header: headerTarget, envelope: envelopeTarget };

console.log(`FUZZ_SEED=${SEED} npm run fuzz:coverage`);
const load = await buildSubjects();

async function findFault(target, fault) {
  const [right, wrong] = fault;
  let found = 0;
  let runs = 0;
  for (let i = 0; i < TRIALS; i++) {
    const trial = search(target, await load(fault), SEED + i, (tried) => tried >= FAULT_RUNS);
    if (trial.found) found += 1;
    runs = Math.max(runs, trial.runs);
  }
  console.log(`${wrong} in place of ${right}: found ${found} times of ${TRIALS}, within ${runs} inputs`);
  return { right, wrong, found, runs };
}

const figures = [];
for (const [name, target] of Object.entries(TARGETS)) {
  console.log(`\n${name}`);
  const faults = [];
  for (const fault of target.faults) faults.push(await findFault(target, fault));
  const unharmed = await load();
  const end = performance.now() + SECONDS * 1_000;
  const result = search(target, unharmed, SEED, () => performance.now() > end);
  console.log(`${result.found ? 'SOMETHING' : 'nothing'} found in the library`, result);
  figures.push({ target: name, ...result, faults });
}

writeResult('coverage-fuzz', {
  command: 'npm run fuzz:coverage',
  bar: `no input that the library and a second reading judge differently, and each planted fault found from ${TRIALS} seeds`,
  passed: figures.every(({ found, faults }) => found === null && faults.every((fault) => fault.found === TRIALS)),
  figures: { seconds: SECONDS, trials: TRIALS, seed: SEED, targets: figures },
});
