import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildSource } from '../build-source.mjs';
import { instrument } from './instrument.mjs';

const SUBJECTS = 'scripts/evidence/coverage-fuzz/subjects.ts';
const folder = join(import.meta.dirname, '../../../.tmp/evidence');

/**
 * Builds subjects.ts. What it gives loads that, instrumented, and with a fault planted where one is given: each time
 * anew, since what the library keeps from one call to the next would show in the coverage.
 */
export async function buildSubjects() {
  await buildSource(SUBJECTS);
  const built = readFileSync(join(folder, 'scripts-evidence-coverage-fuzz-subjects.mjs'), 'utf8');
  const files = new Map();
  let loaded = 0;

  return async (fault) => {
    const name = String(fault);
    if (!files.has(name)) {
      const path = join(folder, `fuzzed-${process.pid}-${files.size}.mjs`);
      writeFileSync(path, instrument(fault ? planted(built, fault) : built));
      files.set(name, pathToFileURL(path));
    }
    loaded += 1;
    return import(`${files.get(name)}?${loaded}`);
  };
}

function planted(code, [right, wrong]) {
  const [before, after, ...more] = code.split(right);
  if (after === undefined || more.length > 0) throw new Error(`not once in the library: ${right}`);
  return before + wrong + after;
}
