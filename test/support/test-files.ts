import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { testFilesIn } from '../../vitest.config.js';
import { ROOT } from './markdown.js';

/** A title in a test file, as it is written there. */
export interface Title {
  /** The titles of the groups around it, the outermost first. */
  groups: readonly string[];
  text: string;
}

/** Every test file of the packages, by its path in the repository. */
export const testFiles: readonly string[] = ['test', 'packages'].flatMap(testFilesIn);

/** The titles of a test file, by its path in the repository. */
export function titlesIn(path: string): Title[] {
  const file = ts.createSourceFile(path, readFileSync(join(ROOT, path), 'utf8'), ts.ScriptTarget.ESNext);
  const titles: Title[] = [];
  const visit = (node: ts.Node, groups: readonly string[]): void => {
    let inside = groups;
    // `it(title)` and `it.each(rows)(title)`, but neither `it.each(rows)` nor `test.includes(text)`.
    if (ts.isCallExpression(node) && !ts.isPropertyAccessExpression(node.expression)) {
      const name = nameOf(node.expression);
      const [title] = node.arguments;
      if (['describe', 'it', 'test'].includes(name) && title && isText(title)) {
        const text = title.getText(file).slice(1, -1).replaceAll("\\'", "'");
        titles.push({ groups, text });
        inside = [...groups, text];
      }
    }
    ts.forEachChild(node, (child) => visit(child, inside));
  };
  visit(file, []);
  return titles;
}

const isText = (node: ts.Node) => ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);

/** `it` of `it.skipIf(condition).each(rows)`. */
function nameOf(callee: ts.Expression): string {
  if (ts.isCallExpression(callee) || ts.isPropertyAccessExpression(callee)) return nameOf(callee.expression);
  return ts.isIdentifier(callee) ? callee.text : '';
}
