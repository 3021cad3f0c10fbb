// Measures what each import costs a bundle, fails where one is over its budget in .size-limit.ts, and compares the table
// of docs/bundle-size.md with the sizes. With --write it writes the table.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PAGE = fileURLToPath(new URL('../docs/bundle-size.md', import.meta.url));
const TABLE = /(?<=<!-- sizes -->\n\n)[\s\S]*?(?=\n<!-- end -->)/;

const { status, stdout, stderr } = spawnSync('npx', ['size-limit', '--json'], { encoding: 'utf8' });
if (status !== 0) {
  console.error(`${stdout}${stderr}`);
  process.exit(1);
}
const sizes = JSON.parse(stdout.slice(stdout.indexOf('\n[') + 1));
const rows = sizes.filter(({ name }) => name !== 'the page').map(({ name, size }) => [name, (size / 1000).toFixed(1)]);
const table = `| Import | kB |\n|---|---|\n${rows.map(([name, kB]) => `| ${name} | ${kB} |\n`).join('')}`;

const page = readFileSync(PAGE, 'utf8');
if (process.argv.includes('--write')) {
  writeFileSync(PAGE, page.replace(TABLE, table));
} else if (!page.includes(table)) {
  console.error(
    'docs/bundle-size.md has other sizes. To write these: npm run build && node scripts/bundle-sizes.mjs --write',
  );
  console.error(table);
  process.exit(1);
}
