import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join, relative } from 'node:path';

const { RESULTS: folder = join(import.meta.dirname, '../../bench/results') } = process.env;

/**
 * Writes what a run found to `bench/results/<name>.json`, or to the folder RESULTS, one form for all: who can repeat it
 * (`command`), where it ran, whether it `passed` its bar, and `figures`, which each run names for itself. Sets the exit
 * code.
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
  const path = join(folder, `${name}.json`);
  writeFileSync(path, `${JSON.stringify(result, null, 2)}\n`);
  console.log(`\n${name}: ${passed ? 'passed' : 'FAILED'} (${bar}). Written to ${relative('', path)}.`);
  process.exitCode = passed ? 0 : 1;
}
