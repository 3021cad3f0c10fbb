import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
// @ts-expect-error a script without types
import { coverageChart } from '../scripts/evidence/coverage-chart.mjs';
// @ts-expect-error a script without types
import { figuresOf, readReasons, summaryOf } from '../scripts/evidence/mutants.mjs';

const root = join(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs/evidence.md'), 'utf8');

/** The page with the figures of some results. */
function pageOf(results: Record<string, unknown>): string {
  return filesOf(results).text;
}

function filesOf(results: Record<string, unknown>): { text: string; chart: string } {
  const folder = mkdtempSync(join(tmpdir(), 'evidence-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, figures] of Object.entries(results)) {
    writeFileSync(join(folder, `${name}.json`), JSON.stringify({ figures }));
  }
  return filesIn(folder);
}

function pageIn(results: string): string {
  return filesIn(results).text;
}

/** The page with the figures of a folder, and the chart beside it. */
function filesIn(results: string): { text: string; chart: string } {
  const folder = mkdtempSync(join(tmpdir(), 'evidence-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'evidence.md');
  writeFileSync(file, page);
  execFileSync(process.execPath, [join(root, 'scripts/evidence/write-page.mjs'), file, results], { stdio: 'pipe' });
  const chart = join(folder, 'latency.svg');
  return { text: readFileSync(file, 'utf8'), chart: existsSync(chart) ? readFileSync(chart, 'utf8') : '' };
}

describe('docs/evidence.md', () => {
  it('the figures are those of bench/results', () => {
    expect(page).toBe(pageIn(join(root, 'bench/results')));
  });

  it('the chart is that of bench/results', () => {
    const { chart } = filesIn(join(root, 'bench/results'));
    expect(readFileSync(join(root, 'docs/latency.svg'), 'utf8')).toBe(chart);
  });

  it('the chart of what each kind of test covers is that of its table', () => {
    const chart = coverageChart() as string;
    expect(readFileSync(join(root, 'docs/coverage.svg'), 'utf8')).toBe(chart);
    const table = page.slice(page.indexOf('| Kind of test |'), page.indexOf('<!-- end -->'));
    const marks = (text: string, mark: RegExp) => text.match(mark)?.length;
    expect(marks(chart, /class="full" cx/g)).toBe(Number(marks(table, /\byes\b/g)) + 1); // one is in the legend
    const rows = table.trim().split('\n').slice(2);
    expect(rows.length).toBeGreaterThan(5);
    for (const row of rows) expect(chart).toContain(`>${row.split(' | ')[0]?.slice(2)}</text>`);
  });

  it('the latency is a table and a chart that say the same', () => {
    const rows = [
      { place: 'no dedupe', p50: 0.5, p95: 2, p99: 5, beside: 1 },
      { place: 'a store', p50: 1, p95: 3, p99: 6, beside: 2 },
      { place: 'a "queue" <&>', p50: 20.25, p95: 30, p99: 100, beside: 40.5 },
    ];
    const { text, chart } = filesOf({ 'latency-node-24': { rows } });
    expect(text).toContain('| a store | 1.00 | 3.00 | 6.00 | 2.0 × |');
    const finding = 'The median time of an acknowledgement is 0.5 ms with no dedupe, and 1 ms (a store) to 20.25 ms';
    expect(text).toContain(`![${finding} (a "queue" <&>) with a store or a queue.](latency.svg)`);
    expect(chart).toContain(`<desc id="finding">${finding} (a &quot;queue&quot; &lt;&amp;&gt;) with a store`);
    const places = [...chart.matchAll(/text-anchor="end">([^<]+)</g)].map(([, place]) => place);
    expect(places).toEqual(['no dedupe', 'a store', 'a &quot;queue&quot; &lt;&amp;&gt;']);
    const medians = [...chart.matchAll(/<circle class="mark" cx="([\d.]+)"/g)].map(([, x]) => Number(x)).slice(1);
    expect(medians).toEqual(medians.toSorted((a, b) => a - b));
  });

  it('the page has no chart of a latency that was not measured', () => {
    const { text, chart } = filesOf({});
    expect([text.includes('latency.svg'), chart]).toEqual([false, '']);
  });

  it('the commands and tests that the page names exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const commands = [...page.matchAll(/`npm (?:run )?([\w:]+)/g)].map(([, name = '']) => name);
    expect(commands.length).toBeGreaterThan(8);
    for (const name of commands) expect(scripts).toHaveProperty([name]);
    const paths = [...page.matchAll(/`((?:test|fixtures|bench)\/[^`]+)`/g)].map(([, path = '']) => path);
    expect(paths.length).toBeGreaterThan(4);
    for (const path of paths) expect(existsSync(join(root, path)), path).toBe(true);
  });

  it('the page has fewer than 750 words outside of its figures', () => {
    const text = page.replace(/<!-- figures: .*?<!-- end -->/gs, '');
    expect(text.split(/\s+/).length).toBeLessThan(750);
  });

  it('a result that misses its claim is named on the page', () => {
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

  it('a figure of speed is our time divided by that of the other library', () => {
    const group = '1 KiB, secret of 24 bytes';
    const verify = { group, name: 'stripe constructEvent', beside: 'verify', median: 2 };
    const served = { group: 'Express, processor time', name: 'memory store', beside: 'stripe', median: 1.25 };
    const text = pageOf({ 'verify-node-24': { ratios: [verify] }, 'served-node-26': { ratios: [served] } });
    expect(text).toContain('| Verify and parse 1 KiB | stripe `constructEvent` | 0.50 | not measured yet |');
    expect(text).toContain('| A delivery on Express | `express.raw()` and stripe | not measured yet | 1.25 |');
  });
});

describe('the summary of mutation tests', () => {
  const reasons = readReasons('# A comment.\n\nsrc/verify/a.ts\n  const x = 1;\n  const y = 2;\n    the reason\n');
  const mutant = (status: string, line: number) => ({
    status,
    replacement: '0',
    location: { start: { line, column: 11 }, end: { line, column: 12 } },
  });
  const report = {
    source: 'a\n  const  x = 1;\nconst x = 1;\nconst z = 3;',
    mutants: [2, 3, 4].map((line) => mutant('Survived', line)),
  };

  it('a noted reason applies to every surviving line of its file with the same text', () => {
    const { survivors } = figuresOf('src/verify/a.ts', report, reasons);
    expect(survivors.map(({ why }: { why?: string }) => why)).toEqual(['the reason', 'the reason', undefined]);
  });

  it('a noted reason does not apply to the same line in another file', () => {
    const { survivors } = figuresOf('src/verify/b.ts', report, reasons);
    expect(survivors.every(({ why }: { why?: string }) => why === undefined)).toBe(true);
  });

  it('the figures of a folder are replaced only when each of its files was measured', () => {
    const killed = {
      source: 'const x = 1;',
      mutants: [mutant('Killed', 1), mutant('Timeout', 1), mutant('CompileError', 1)],
    };
    const measured = [figuresOf('src/verify/a.ts', report, reasons), figuresOf('src/verify/b.ts', killed, reasons)];
    const old = { room: 'src', mutants: 9, killed: 9, score: 100, open: 0, measuredOn: '2026-01-01' };
    const gone = { ...old, room: 'src/gone' };
    const summary = (sources: string[]) => summaryOf(measured, sources, [old, gone], '2026-11-01');
    const [a, b, top] = ['src/verify/a.ts', 'src/verify/b.ts', 'src/event.ts'];
    expect(summary([a, b, top])).toEqual({
      missing: [],
      rooms: [old, { room: 'src/verify', mutants: 5, killed: 2, score: 40, open: 1, measuredOn: '2026-11-01' }],
    });
    expect(summary([a, b, 'src/verify/c.ts', top])).toEqual({ missing: ['src/verify'], rooms: [old] });
  });
});
