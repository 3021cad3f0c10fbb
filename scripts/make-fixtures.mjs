// Writes fixtures/deliveries and fixtures/vectors.json, always the same bytes. They are in the repository so that other
// languages need no Node to use them; `node scripts/make-fixtures.mjs <directory>` writes them elsewhere, to compare.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deliveries } from './fixtures/deliveries.mjs';
import { vectors } from './fixtures/vectors.mjs';

const directory = process.argv[2] ?? fileURLToPath(new URL('../fixtures', import.meta.url));

mkdirSync(join(directory, 'deliveries'), { recursive: true });
for (const { type, bytes } of deliveries()) writeFileSync(join(directory, 'deliveries', `${type}.http`), bytes);

// One vector on a line, so that a change of one is a change of one line.
const lines = vectors().map((vector) => JSON.stringify(vector));
writeFileSync(join(directory, 'vectors.json'), `[\n${lines.join(',\n')}\n]\n`);
