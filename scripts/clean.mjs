// Removes what `npm run build` makes. Builds of one package run at the same time, so none of them can do it.
import { rmSync } from 'node:fs';
import { PACKAGES, root } from './packages.mjs';

for (const folder of PACKAGES) rmSync(`${root}${folder}/dist`, { recursive: true, force: true });
