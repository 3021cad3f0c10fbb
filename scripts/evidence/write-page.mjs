// Writes the figures of docs/evidence.md and its charts, from what is in bench/results; the rest of the page is
// written by people.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { coverageChart } from './coverage-chart.mjs';
import { figures, latency } from './figures.mjs';
import { latencyChart } from './latency-chart.mjs';

const root = join(import.meta.dirname, '../..');
const [page = join(root, 'docs/evidence.md'), folder = join(root, 'bench/results')] = process.argv.slice(2);

const results = Object.fromEntries(
  readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => [file.slice(0, -5), JSON.parse(readFileSync(join(folder, file), 'utf8'))]),
);

let text = readFileSync(page, 'utf8');
for (const [name, table] of Object.entries(figures(results))) {
  const [begin, end] = [`<!-- figures: ${name} -->`, '<!-- end -->'];
  const start = text.indexOf(begin);
  if (start === -1) throw new Error(`${page} has no ${begin}`);
  text = `${text.slice(0, start)}${begin}\n\n${table}\n\n${text.slice(text.indexOf(end, start))}`;
}
writeFileSync(page, text);
writeFileSync(join(dirname(page), 'coverage.svg'), coverageChart());

const measured = latency(results);
if (measured !== undefined) {
  writeFileSync(join(dirname(page), 'latency.svg'), latencyChart(measured.rows, measured.finding));
}
