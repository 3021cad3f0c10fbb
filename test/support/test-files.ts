import ts from 'typescript';
import { configDefaults } from 'vitest/config';
import { projects, variants } from '../../vitest.config.js';

/** Whether a project runs a file, by its path in the repository. */
export const isTestFile = (path: string) => [...projects, ...variants].some((project) => includes(project, path));

function includes({ include, exclude = [], typecheck }: (typeof projects)[number], path: string): boolean {
  const fits = (globs: readonly string[]) => globs.some((glob) => patternOf(glob).test(path));
  if (fits([...configDefaults.exclude, ...exclude])) return false;
  return fits([...include, ...(typecheck?.include ?? [])]);
}

/** Of what the projects use: `*`, and `**` for any folders or for all that is in one. */
function patternOf(glob: string): RegExp {
  const pattern = glob
    .replaceAll('.', '\\.')
    .replace(/\*\*\/|\/\*\*$|\*/g, (stars) => ({ '**/': '(.+/)?', '/**': '/.+' })[stars] ?? '[^/]*');
  return new RegExp(`^${pattern}$`);
}

const TESTS = ['describe', 'it', 'test'];
const SKIPPED = ['skip', 'todo'];

/**
 * The titles of the tests and groups of a source as they are written there, each behind those of the groups around it:
 * `group > test`. Those that are always skipped are left out.
 */
export function titlesOf(source: string): string[] {
  const file = ts.createSourceFile('some.test.ts', source, ts.ScriptTarget.ESNext);
  const titles: string[] = [];
  const visit = (node: ts.Node, groups: readonly string[]): void => {
    let inside = groups;
    if (ts.isCallExpression(node)) {
      const {
        expression: callee,
        arguments: [title],
      } = node;
      const [first = '', ...others] = namesIn(callee);
      const isTest = TESTS.includes(first);
      if (isTest && others.some((name) => SKIPPED.includes(name))) return;
      // `it(title)` and `it.each(rows)(title)`, but neither `it.each(rows)` nor `test.includes(text)`.
      if (isTest && title && !ts.isPropertyAccessExpression(callee)) {
        const text = textOf(title, file);
        if (text !== undefined) {
          inside = [...groups, text];
          titles.push(inside.join(' > '));
        }
      }
    }
    ts.forEachChild(node, (child) => visit(child, inside));
  };
  visit(file, []);
  return titles;
}

function textOf(title: ts.Expression, file: ts.SourceFile): string | undefined {
  if (ts.isStringLiteralLike(title)) return title.text;
  return ts.isTemplateExpression(title) ? title.getText(file).slice(1, -1) : undefined;
}

/** `it`, `skipIf` and `each` of `it.skipIf(condition).each(rows)`. */
function namesIn(callee: ts.Expression): string[] {
  if (ts.isCallExpression(callee)) return namesIn(callee.expression);
  if (ts.isPropertyAccessExpression(callee)) return [...namesIn(callee.expression), callee.name.text];
  return ts.isIdentifier(callee) ? [callee.text] : [];
}
