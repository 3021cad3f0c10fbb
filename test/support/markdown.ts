import { readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PACKAGES } from '../../scripts/subpaths.js';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Every Markdown file of the repository that people write, by its path. Those in `api` are generated. */
export function markdownFiles(folder = ''): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    if (entry.isFile()) return path.endsWith('.md') ? [path] : [];
    const isOwn = entry.isDirectory() && !/^\.|^(?:api|dist|node_modules)$/.test(entry.name);
    return isOwn ? markdownFiles(path) : [];
  });
}

/** A code block of a page. */
export interface CodeBlock {
  /** What stands behind the fence; empty where it says nothing. */
  language: string;
  lines: string[];
}

/** The code blocks of a Markdown text. */
export function codeBlocksIn(text: string): CodeBlock[] {
  return [...text.matchAll(/^ *```(\w*).*\n([\s\S]*?)^ *```$/gm)].map(([, language = '', code = '']) => {
    return { language, lines: code.trimEnd().split('\n') };
  });
}

/** How a comment starts in a language of the pages: with `//` in most. */
const COMMENT: Record<string, RegExp> = {
  sql: /--/,
  ...Object.fromEntries(['sh', 'dotenv', 'nginx', 'toml', 'yaml'].map((language) => [language, /#/])),
};

/**
 * The lines that have a comment behind their code. A comment stands behind a space, so that the `//` of a URL and the `$#`
 * of a shell are none, and not between quotes.
 */
export function linesWithCommentBehind({ language, lines }: CodeBlock): string[] {
  if (language === 'text') return [];
  const start = (COMMENT[language] ?? /\/\/|\/\*/).source;
  const behind = new RegExp(`^(?!\\s*(?:${start}|\\*)).*\\s(?:${start})`);
  return lines.filter((line) => behind.test(line.replace(/'[^']*'|"[^"]*"|`[^`]*`/g, "''")));
}

/** Every page of the documentation, and what npm shows of each package, by its path in the repository. */
export function markdownPages(): string[] {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name.replaceAll('\\', '/')}`);
  const readmes = PACKAGES.map((folder) => posix.join(folder, 'README.md'));
  return [...readmes, 'SECURITY.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...docs.sort()];
}
