import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './markdown.js';

/** A code block that the reader saves as a file. */
export type PageFile = [path: string, code: string];

/** The files of a quickstart: see {@link filesIn}. */
export function filesOf(quickstart: string): PageFile[] {
  return filesIn(readFileSync(join(ROOT, `docs/quickstart/${quickstart}.md`), 'utf8'));
}

/** The code blocks that the paragraph above tells the reader to save, with their paths: "Save as `server.mjs`:". */
export function filesIn(text: string): PageFile[] {
  const blocks = text.matchAll(/[Ss]ave [^`]*?`([^`\n]+)`(?:(?!\n\n)[\s\S])*\n\n```.*\n([\s\S]*?)^```$/gm);
  return [...blocks].map(([, path = '', code = '']) => [path, code]);
}
