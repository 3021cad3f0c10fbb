import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './markdown.js';

/** The code blocks of a quickstart that name their file in a comment on the first line, with that path. */
export function filesOf(quickstart: string): [path: string, code: string][] {
  const page = readFileSync(join(ROOT, `docs/quickstart/${quickstart}.md`), 'utf8');
  return [...page.matchAll(/^```[jt]s.*\n\/\/ ([^\s,]+).*\n([\s\S]*?)^```$/gm)].map(([, path = '', code = '']) => [
    path,
    code,
  ]);
}
