import { readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PACKAGES } from '../../scripts/subpaths.js';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Every page of the documentation, and what npm shows of each package, by its path in the repository. */
export function markdownPages(): string[] {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name.replaceAll('\\', '/')}`);
  const readmes = PACKAGES.map((folder) => posix.join(folder, 'README.md'));
  return [...readmes, 'SECURITY.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...docs.sort()];
}
