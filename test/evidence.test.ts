import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';

const root = join(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs/evidence.md'), 'utf8');

/** The page with the figures of some results. */
function pageOf(results: Record<string, unknown>): string {
  const folder = mkdtempSync(join(tmpdir(), 'evidence-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, figures] of Object.entries(results)) {
    writeFileSync(join(folder, `${name}.json`), JSON.stringify({ figures }));
  }
  return pageIn(folder);
}

function pageIn(results: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'evidence-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'evidence.md');
  writeFileSync(file, page);
  execFileSync(process.execPath, [join(root, 'scripts/evidence/write-page.mjs'), file, results], { stdio: 'pipe' });
  return readFileSync(file, 'utf8');
}

describe('docs/evidence.md', () => {
  it('the page has the figures of bench/results', () => {
    expect(page).toBe(pageIn(join(root, 'bench/results')));
  });

  it('the page names only commands and tests that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const commands = [...page.matchAll(/`npm (?:run )?([\w:]+)/g)].map(([, name = '']) => name);
    expect(commands.length).toBeGreaterThan(8);
    for (const name of commands) expect(scripts).toHaveProperty([name]);
    const paths = [...page.matchAll(/`((?:test|fixtures|bench)\/[^`]+)`/g)].map(([, path = '']) => path);
    expect(paths.length).toBeGreaterThan(4);
    for (const path of paths) expect(existsSync(join(root, path)), path).toBe(true);
  });

  it('the page is read in three minutes', () => {
    expect(page.split(/\s+/).length).toBeLessThan(750);
  });

  it('a result that does not hold is named on the page', () => {
    const properties = [
      { name: 'the first', found: 'passed' },
      { name: 'the second', found: 'failed' },
    ];
    const subjects = [{ name: 'the slow one', exponent: 2, good: false }];
    const text = pageOf({ fuzz: { runs: 1_000, properties }, complexity: { subjects } });
    expect(text).toContain('| 2 properties, 1,000 inputs each; these do not hold: the second |');
    expect(text).toContain('| 1 inputs over four doublings; these grow faster: the slow one |');
    expect(text).toContain('| not measured yet | `npm run soak` |');
  });

  it('a figure of speed is our time divided by theirs, whichever way it was measured', () => {
    const group = '1 KiB, secret of 24 bytes';
    const verify = { group, name: 'stripe constructEvent', beside: 'verify', median: 2 };
    const served = { group: 'Express, processor time', name: 'memory store', beside: 'stripe', median: 1.25 };
    const text = pageOf({ 'verify-node-24': { ratios: [verify] }, 'served-node-26': { ratios: [served] } });
    expect(text).toContain('| Verify and parse 1 KiB | stripe `constructEvent` | 0.50 | not measured yet |');
    expect(text).toContain('| A delivery on Express | `express.raw()` and stripe | not measured yet | 1.25 |');
  });
});
