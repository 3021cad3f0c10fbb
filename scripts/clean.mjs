// Removes what `npm run build` makes. Builds of one package run at the same time, so none of them can do it.
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
for (const folder of ['.', ...workspaces]) rmSync(join(root, folder, 'dist'), { recursive: true, force: true });
