import ts from 'typescript';
import ofNpmTest from '../../vitest.config.js';
import ofFaults from '../../vitest.faults.config.js';
import ofPackage from '../../vitest.package.config.js';
import ofPrograms from '../../vitest.programs.config.js';
import ofRuntimes from '../../vitest.runtimes.config.js';

/** Whether `npm test` runs a file, by its path in the repository. */
export const isInNpmTest = (path: string) => includes(ofNpmTest, path);

/** Whether any of the scripts of tests does. */
export const isTestFile = (path: string) =>
  [ofNpmTest, ofPrograms, ofFaults, ofPackage, ofRuntimes].some((config) => includes(config, path));

function includes({ test = {} }: typeof ofNpmTest, path: string): boolean {
  const { include = [], exclude = [], typecheck } = test;
  const fits = (globs: string[]) => globs.some((glob) => patternOf(glob).test(path));
  return fits([...include, ...(typecheck?.include ?? [])]) && !fits(exclude);
}

/** Of what the configurations use: `*`, and `**` for any folders or for all that is in one. */
function patternOf(glob: string): RegExp {
  const pattern = glob
    .replaceAll('.', '\\.')
    .replace(/\*\*\/|\/\*\*$|\*/g, (stars) => ({ '**/': '(.+/)?', '/**': '/.+' })[stars] ?? '[^/]*');
  return new RegExp(`^${pattern}$`);
}

const TESTS = ['describe', 'it', 'test'];
const SKIPPED = ['skip', 'todo'];

/** The titles of the tests of a source and of their groups, as they are written there, but for what is skipped always. */
export function titlesOf(source: string): string[] {
  const file = ts.createSourceFile('some.test.ts', source, ts.ScriptTarget.ESNext);
  const titles: string[] = [];
  const visit = (node: ts.Node): void => {
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
        if (ts.isStringLiteralLike(title)) titles.push(title.text);
        if (ts.isTemplateExpression(title)) titles.push(title.getText(file).slice(1, -1));
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return titles;
}

/** `it`, `skipIf` and `each` of `it.skipIf(condition).each(rows)`. */
function namesIn(callee: ts.Expression): string[] {
  if (ts.isCallExpression(callee)) return namesIn(callee.expression);
  if (ts.isPropertyAccessExpression(callee)) return [...namesIn(callee.expression), callee.name.text];
  return ts.isIdentifier(callee) ? [callee.text] : [];
}
