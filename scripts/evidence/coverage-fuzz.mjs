// Fuzzes the header parser and the envelope, led by the blocks that V8 sees run: an input that reaches a new one, or a
// new message, is kept and changed further. FUZZ_SECONDS for each (60). Before that the same is done to a library with
// one fault at a time, each of which has to be found: a search that finds nothing in a faulty one has proved nothing.
import { randomInt } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSource } from './build-source.mjs';
import { startCoverage } from './coverage.mjs';
import { fuzzTargets } from './fuzz-targets.mjs';
import { mutateBytes } from './mutate-bytes.mjs';
import { seededRandom } from './seeded-random.mjs';
import { writeResult } from './write-result.mjs';

const SECONDS = Number(process.env.FUZZ_SECONDS ?? 60);
const FAULT_SECONDS = 30;
const SEED = Number(process.env.FUZZ_SEED ?? randomInt(2 ** 31));
const BATCH = 50;
const folder = join(import.meta.dirname, '../../.tmp/evidence');
const built = join(folder, 'src-index.mjs');

const take = startCoverage();
const REFERENCES = ['test/properties/reference-verifier.ts', 'test/properties/reference-envelope.ts'];
const load = await buildSource('src/index.ts', ...REFERENCES);
const reference = Object.assign({}, ...(await Promise.all(REFERENCES.map((path) => load(path)))));
const library = await load('src/index.ts');

/** Searches until the time is over or an input is judged in two ways. */
function search(judge, { seeds, words }, seconds, path) {
  const random = seededRandom(SEED);
  const corpus = [...seeds];
  const known = new Set();
  const tally = {};
  const end = performance.now() + seconds * 1_000;
  let runs = 0;
  let found;

  const isNew = (features) => features.filter((feature) => !known.has(feature) && known.add(feature)).length > 0;
  const tryOne = (input) => {
    runs += 1;
    try {
      const [ours, theirs] = judge(input);
      tally[ours] = (tally[ours] ?? 0) + 1;
      if (ours !== theirs) found = { input: input.toString('latin1'), ours, theirs };
    } catch (error) {
      found = { input: input.toString('latin1'), threw: String(error) };
    }
  };

  for (const seed of seeds) tryOne(seed);
  isNew(take(path));
  while (found === undefined && performance.now() < end) {
    const pick = () => corpus[random(corpus.length)];
    const batch = Array.from({ length: BATCH }, () => mutateBytes(pick(), pick(), words, random));
    for (const input of batch) if (found === undefined) tryOne(input);
    // To look costs as much as some fifty runs: one by one only where the batch has shown something new.
    if (found !== undefined || !take(path).some((block) => !known.has(block))) continue;
    for (const input of batch) {
      tryOne(input);
      if (isNew(take(path))) corpus.push(input);
    }
  }
  return { runs, blocks: known.size, corpus: corpus.length, tally, found };
}

const figures = [];
for (const [name, target] of Object.entries(fuzzTargets)) {
  const judgeOf = (tried) => (input) => target.judge(tried, reference, input);
  const missed = [];
  for (const [i, [right, wrong]] of target.faults.entries()) {
    const source = readFileSync(built, 'utf8');
    if (!source.includes(right)) throw new Error(`nowhere in the library: ${right}`);
    const planted = join(folder, `planted-${name}-${i}.mjs`);
    writeFileSync(
      planted,
      source.replace(right, () => wrong),
    );
    const { found, runs } = search(judgeOf(await import(planted)), target, FAULT_SECONDS, planted);
    console.log(`${name}: ${wrong} in place of ${right}: ${found ? `found after ${runs} runs` : 'NOT FOUND'}`);
    if (!found) missed.push(wrong);
  }
  const { found, ...result } = search(judgeOf(library), target, SECONDS, built);
  console.log(`${name}: ${found ? 'DIFFERENCE' : 'nothing'} found after ${result.runs} runs`, found ?? result);
  figures.push({ target: name, ...result, found: found ?? null, faults: target.faults.length, missed });
}

writeResult('coverage-fuzz', {
  command: 'npm run fuzz:coverage',
  bar: 'no input that the library and a second reading judge differently, no foreign error, and every planted fault found',
  passed: figures.every(({ found, missed }) => found === null && missed.length === 0),
  figures: { seconds: SECONDS, seed: SEED, targets: figures },
});
