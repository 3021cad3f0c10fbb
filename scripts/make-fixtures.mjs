// Writes fixtures, always the same bytes. They are in the repository so that other languages need no Node to use them;
// `node scripts/make-fixtures.mjs <directory>` writes them elsewhere, to compare.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deliveries, refusedDeliveries } from './fixtures/deliveries.mjs';
import { queuedDeliveries } from './fixtures/queued.mjs';
import { vectors } from './fixtures/vectors.mjs';

const directory = process.argv[2] ?? fileURLToPath(new URL('../fixtures', import.meta.url));

const recorded = [
  ...deliveries().map(({ type, bytes }) => ({ file: `deliveries/${type}.http`, name: type, type, bytes })),
  ...refusedDeliveries().map((one) => ({ file: `refused-deliveries/${one.name}.http`, ...one })),
];
for (const folder of ['deliveries', 'refused-deliveries']) mkdirSync(join(directory, folder), { recursive: true });
for (const { file, bytes } of recorded) writeFileSync(join(directory, file), bytes);

// One entry on a line, so that a change of one is a change of one line.
for (const [name, list] of [
  ['vectors', vectors()],
  ['queued-deliveries', queuedDeliveries()],
  ['recorded-deliveries', recorded.map(({ name, type, code, bytes }) => ({ name, type, code, text: `${bytes}` }))],
]) {
  const lines = list.map((vector) => JSON.stringify(vector));
  writeFileSync(join(directory, `${name}.json`), `[\n${lines.join(',\n')}\n]\n`);
}
