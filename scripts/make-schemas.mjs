// Writes schemas/event.json and schemas/openapi.json, always the same bytes. They are in the repository and in the
// package so that tools can read them; `node scripts/make-schemas.mjs <directory>` writes them elsewhere, to compare.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventSchema } from './schemas/event-schema.mjs';
import { openapi } from './schemas/openapi.mjs';

const directory = process.argv[2] ?? fileURLToPath(new URL('../schemas', import.meta.url));

mkdirSync(directory, { recursive: true });
const write = (name, json) => writeFileSync(join(directory, `${name}.json`), `${json}\n`);
write('event', JSON.stringify(eventSchema, null, 2));
// Read by tools alone, and each user installs it: without the white space it has half the size.
write('openapi', JSON.stringify(openapi));
