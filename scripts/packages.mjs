import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../', import.meta.url));

/** The package.json of a folder, by its path from the root. */
export const manifestOf = (folder) => JSON.parse(readFileSync(`${root}${folder}/package.json`, 'utf8'));

/** The folders of the packages that are published: the receiver, and what its users build and test with. */
export const PACKAGES = ['.', ...manifestOf('.').workspaces.filter((folder) => !manifestOf(folder).private)];
