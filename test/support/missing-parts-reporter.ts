import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Reporter } from 'vitest/node';

/** Ends a run with one list of the parts that were not there, and of how to get each. Tests name them by `missing`. */
export class MissingPartsReporter implements Reporter {
  private folder = '';

  onInit() {
    this.folder = mkdtempSync(join(tmpdir(), 'missing-parts-'));
    // Workers inherit it.
    process.env['MISSING_PARTS'] = join(this.folder, 'parts');
    writeFileSync(process.env['MISSING_PARTS'], '');
  }

  onTestRunEnd() {
    const lines = readFileSync(join(this.folder, 'parts'), 'utf8').split('\n').filter(Boolean);
    rmSync(this.folder, { recursive: true });
    const parts = new Map(lines.map((line): [string, string] => JSON.parse(line)));
    if (parts.size === 0) return;
    const width = Math.max(...[...parts.keys()].map((part) => part.length));
    console.log('\nSkipped, because it is not on this machine:');
    for (const [part, how] of [...parts].sort()) console.log(`  ${part.padEnd(width)}  ${how}`);
    console.log('Everything else ran. With CI=true, a missing part fails.\n');
  }
}
