// The simulated worlds of packages/suites/test/simulation, SIMULATION_SEEDS of them (10 000), and the planted bugs that are found.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeResult } from './write-result.mjs';

const { SIMULATION_SEEDS = '10000' } = process.env;
const folder = mkdtempSync(join(tmpdir(), 'simulation-'));
const report = join(folder, 'report.json');
const args = ['vitest', 'run', '--project', 'own-process', 'packages/suites/test/simulation', '--maxWorkers=1'];
const { status } = spawnSync('npx', [...args, '--reporter=default', '--reporter=json', `--outputFile.json=${report}`], {
  stdio: 'inherit',
  env: { ...process.env, SIMULATION_SEEDS },
});
const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
rmSync(folder, { recursive: true });

const metas = testResults.flatMap(({ assertionResults }) => assertionResults).map(({ meta }) => meta);
const apps = metas.flatMap(({ app }) => app ?? []);
const bugs = metas.flatMap(({ plantedBug }) => plantedBug ?? []);

writeResult('simulation', {
  command: 'npm run simulation',
  bar: `no app breaks a rule in ${SIMULATION_SEEDS} seeds, and each planted bug is found`,
  passed: status === 0 && apps.length > 0 && bugs.length > 0,
  figures: { apps, bugs },
});
