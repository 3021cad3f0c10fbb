import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { isInNpmTest } from './support/test-files.js';

const root = join(import.meta.dirname, '..');
const made: string[] = [];

afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true });
});

function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'evidence-'));
  made.push(folder);
  return folder;
}

/** The files of the page, by path. */
function pageIn(docs: string): Record<string, string> {
  const paths = ['evidence.md', ...readdirSync(join(docs, 'evidence')).map((name) => `evidence/${name}`)];
  return Object.fromEntries(paths.sort().map((path) => [path, readFileSync(join(docs, path), 'utf8')]));
}

/** What the script makes of some results. */
function pageOf(results: string): Record<string, string> {
  const docs = aFolder();
  execFileSync(process.execPath, [join(root, 'scripts/evidence/write-page.mjs'), docs, results], { stdio: 'pipe' });
  return pageIn(docs);
}

function aResult(name: string, figures: unknown, passed = true) {
  const machine = { node: 'v20.0.0', platform: 'linux', cpu: 'A CPU with a name', cores: 7 };
  const measuredAt = '2031-02-03T04:05:06.000Z';
  const folder = aFolder();
  const result = { name, command: 'npm run x', measuredAt, machine, bar: 'a bar', passed, figures };
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(result));
  return folder;
}

const ratio = { group: '1 KiB', name: 'ours <fast>', beside: 'the limit', low: 1.1, median: 1.234, high: 1.3 };

describe('docs/evidence.md', () => {
  it('is what `npm run evidence` makes of the results', () => {
    expect(pageIn(join(root, 'docs'))).toEqual(pageOf(join(root, 'bench/results')));
  });

  it('names only commands that there are', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const commands = [...readFileSync(join(root, 'docs/evidence.md'), 'utf8').matchAll(/`npm run ([^` ]+)/g)];
    expect(commands.length).toBeGreaterThan(10);
    for (const [, script = ''] of commands) expect(scripts).toHaveProperty([script]);
  });

  it('shows what each entry of the package costs, at the start and in a bundle', () => {
    const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const page = readFileSync(join(root, 'docs/evidence.md'), 'utf8');
    for (const subpath of Object.keys(exports).filter((one) => !one.endsWith('.json'))) {
      const entry = `service-webhooks${subpath.slice(1)}`;
      expect(page).toContain(` | ${entry} | no import | `);
      expect(page).toContain(`\n| \`${entry}\` | `);
    }
  });

  it('says with how many inputs the ordinary tests run each property', () => {
    const holds = readFileSync(join(root, 'test/properties/holds.ts'), 'utf8');
    const usually = Number(/usually = ([\d_]+)/.exec(holds)?.[1]?.replaceAll('_', ''));
    const page = readFileSync(join(root, 'docs/evidence.md'), 'utf8');
    expect(page).toContain(`with ${usually.toLocaleString('en')} inputs each unless`);
  });

  it('names only test files that there are, each with how much it throws', () => {
    const page = readFileSync(join(root, 'docs/evidence.md'), 'utf8');
    const [, section = ''] = page.split('\n## Vectors and wire tests\n');
    const rows = [...section.matchAll(/^\| .+ \| ([^|]+) \| `(test\/[^`]+)` \|$/gm)];
    expect(rows.length).toBeGreaterThan(5);
    for (const [row, howMany = '', test = ''] of rows) {
      expect(existsSync(join(root, test)), row).toBe(true);
      expect(isInNpmTest(test), row).toBe(true);
      expect(howMany, row).toMatch(/^[1-9]/);
    }
  });

  it('says which goal is missed and which is met, in the overview, in the table and in the plot', () => {
    const missed = pageOf(aResult('verify', { ratios: [{ ...ratio, goal: { atMost: 1.2, met: false } }] }, false));
    expect(missed['evidence.md']).toContain('**1 of 1 goals missed**');
    expect(missed['evidence.md']).toContain('1.23 (1.10 to 1.30) | at most 1.2 | **missed** |');
    expect(missed['evidence/verify.svg']).toContain('1.23 missed');
    const met = pageOf(aResult('verify', { ratios: [{ ...ratio, goal: { atLeast: 1.2, met: true } }] }));
    expect(met['evidence.md']).toContain('all 1 goals met');
    expect(met['evidence.md']).toContain('1.23 (1.10 to 1.30) | at least 1.2 | met |');
    expect(met['evidence/verify.svg']).not.toContain('missed<');
  });

  it('shows by how little a goal is missed', () => {
    const goal = { atMost: 1.15, met: false };
    const text = pageOf(aResult('verify', { ratios: [{ ...ratio, median: 1.151, goal }] }, false))['evidence.md'];
    expect(text).toContain('| 1.151 (1.10 to 1.30) | at most 1.15 | **missed** |');
  });

  it('says what failed, what is short of what is wanted and what is not measured', () => {
    const text = pageOf(aResult('timing', { samples: 1000, controls: [], subjects: [] }, false))['evidence.md'];
    expect(text).toContain('| **failed**, **1,000 samples, of 300,000** |');
    expect(text).toContain('**It did not hold.**');
    expect(text).toContain('Not measured yet: `npm run soak`.');
  });

  it('tells of the machine its cores and its Node, and no date', () => {
    const page = pageOf(aResult('verify', { ratios: [ratio] }));
    expect(page['evidence.md']).toContain('Measured on 7 cores, Node 20.0.0.');
    for (const text of Object.values(page)) expect(text).not.toMatch(/2031|A CPU|linux/);
  });

  it('has a plot with a bar for each ratio, in which names are text', () => {
    const svg = pageOf(aResult('verify', { ratios: [ratio, { ...ratio, median: 40 }] }))['evidence/verify.svg'];
    expect(svg?.match(/<rect /g)).toHaveLength(2);
    expect(svg).toContain('ours &#60;fast&#62;');
    expect(svg).toContain('>40.00<');
  });

  it('refuses a result that no section shows', () => {
    expect(() => pageOf(aResult('unheard-of', {}))).toThrow('No section shows unheard-of');
  });
});
