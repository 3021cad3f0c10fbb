// Every property of test/properties, FUZZ_RUNS times each (100 000), all from one seed, which FUZZ_SEED repeats.
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeResult } from './write-result.mjs';

const { FUZZ_RUNS = '100000', FUZZ_SEED = String(randomInt(2 ** 31)) } = process.env;
console.log(`FUZZ_RUNS=${FUZZ_RUNS} FUZZ_SEED=${FUZZ_SEED} npm run fuzz`);

const folder = mkdtempSync(join(tmpdir(), 'fuzz-'));
const report = join(folder, 'report.json');
const args = ['vitest', 'run', '--project', 'library', 'test/properties', '--reporter=default', '--reporter=json'];
const { status } = spawnSync('npx', [...args, `--outputFile.json=${report}`], {
  stdio: 'inherit',
  env: { ...process.env, FUZZ_RUNS, FUZZ_SEED },
});
const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
rmSync(folder, { recursive: true });

const properties = testResults
  .flatMap(({ assertionResults }) => assertionResults)
  .map(({ fullName, status: found, duration = 0 }) => ({
    name: fullName,
    found,
    seconds: Math.round(duration / 100) / 10,
  }));

writeResult('fuzz', {
  command: 'npm run fuzz',
  bar: `each property holds in ${FUZZ_RUNS} runs`,
  passed: status === 0 && properties.every(({ found }) => found === 'passed'),
  figures: { runs: Number(FUZZ_RUNS), seed: Number(FUZZ_SEED), properties },
});
