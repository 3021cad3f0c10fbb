import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../../bench/results');

/**
 * Writes what a run found to `bench/results/<name>.json`, one form for all: who can repeat it (`command`), where it ran,
 * whether it `passed` its bar, and `figures`, which each run names for itself. Sets the exit code.
 */
export function writeResult(name, { command, bar, passed, figures }) {
  const machine = {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cpu: cpus()[0]?.model,
    cores: cpus().length,
  };
  const result = { name, command, measuredAt: new Date().toISOString(), machine, bar, passed, figures };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(result, null, 2)}\n`);
  console.log(`\n${name}: ${passed ? 'passed' : 'FAILED'} (${bar}). Written to bench/results/${name}.json.`);
  process.exitCode = passed ? 0 : 1;
}
