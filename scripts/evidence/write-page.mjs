// docs/evidence.md and its plots, from what is in bench/results. Other folders for both may be given, in this order.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { evidencePage } from './page/evidence-page.mjs';

const root = join(import.meta.dirname, '../..');
const [folder = join(root, 'docs'), from = join(root, 'bench/results')] = process.argv.slice(2);

const results = Object.fromEntries(
  readdirSync(from)
    .filter((file) => file.endsWith('.json'))
    .map((file) => [file.slice(0, -5), JSON.parse(readFileSync(join(from, file), 'utf8'))]),
);

rmSync(join(folder, 'evidence'), { recursive: true, force: true });
mkdirSync(join(folder, 'evidence'), { recursive: true });
for (const [path, text] of Object.entries(evidencePage(results))) writeFileSync(join(folder, path), text);
