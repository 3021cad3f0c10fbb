import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, relative } from 'node:path';
import ts from 'typescript';
import { allSubpaths, PACKAGES } from '../../scripts/subpaths.js';
import { ROOT } from './markdown.js';

/** A comment without its delimiters, or another text of a source. */
export interface Passage {
  /** `src/errors.ts:12` */
  at: string;
  text: string;
}

/** The code of an `@example`. */
export interface Example {
  /** The comment that the example is in. */
  at: string;
  code: string;
}

/** A name that a module of the package exports. */
export interface PublicName {
  /** `service-webhooks/fetch#webhookHandler` */
  name: string;
  /** The modules that export it. */
  modules: readonly string[];
  /** The file that declares it: `adapters/fetch.ts`. */
  source: string;
  isFunction: boolean;
  docstring: string;
  examples: number;
}

/** Every source of the packages, by its path in the repository. */
export function sourceFiles(): string[] {
  const inFolder = (folder: string) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`);
  const sources = PACKAGES.flatMap((folder) => inFolder(posix.join(folder, 'src')));
  return [...sources, ...inFolder('adapters'), 'fixtures/index.ts'].sort();
}

/** The comments of a source, in their order. */
export function commentsIn(path: string): Passage[] {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const ranges = new Map<number, ts.CommentRange>();
  const visit = (node: ts.Node): void => {
    const leading = ts.getLeadingCommentRanges(text, node.getFullStart()) ?? [];
    const trailing = ts.getTrailingCommentRanges(text, node.end) ?? [];
    for (const range of [...leading, ...trailing]) ranges.set(range.pos, range);
    for (const child of node.getChildren(file)) visit(child);
  };
  visit(file);
  return [...ranges.values()]
    .toSorted((a, b) => a.pos - b.pos)
    .map(({ pos, end }) => ({
      at: `${path}:${file.getLineAndCharacterOfPosition(pos).line + 1}`,
      text: text
        .slice(pos, end)
        .replace(/^\/\*+ ?|^\/\/ ?|\s*\*\/$/g, '')
        .replace(/^[ \t]*\*(?: |$)/gm, ''),
    }));
}

/** The text of a comment, without its example. */
export const withoutExample = ({ text }: Passage): string => text.replace(/^@example[\s\S]*/m, '');

/** The texts with words in them that a source has: strings, templates with `…` for their values, and text of JSX. */
export function messagesIn(path: string): Passage[] {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  const messages: Passage[] = [];
  const add = (node: ts.Node, message: string) => {
    const { line } = file.getLineAndCharacterOfPosition(node.getStart(file));
    if (/\p{L} \p{L}|… \p{L}|\p{L} …/u.test(message)) messages.push({ at: `${path}:${line + 1}`, text: message });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isJsxText(node)) add(node, node.text);
    else if (ts.isTemplateExpression(node)) {
      add(node, [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('…'));
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return messages;
}

/** The examples in the docstrings of a source. */
export function examplesIn(path: string): Example[] {
  return commentsIn(path).flatMap(({ at, text }) =>
    text
      .split(/^@example$/m)
      .slice(1)
      .map((code) => ({
        at,
        code: code
          .replace(/^@\w[\s\S]*/m, '')
          .replaceAll('\\@', '@')
          .trim(),
      })),
  );
}

/** Every public name of the package and of those beside it, by the first module that exports it. */
export function publicNames(): PublicName[] {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const program = ts.createProgram(
    allSubpaths.map(({ source }) => join(ROOT, source)),
    options,
  );
  const checker = program.getTypeChecker();
  const names = new Map<ts.Symbol, PublicName>();
  for (const { name: module, source } of allSubpaths) {
    const file = program.getSourceFile(join(ROOT, source));
    const symbol = file && checker.getSymbolAtLocation(file);
    for (const exported of symbol ? checker.getExportsOfModule(symbol) : []) {
      const target = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      const known = names.get(target);
      names.set(target, {
        name: known?.name ?? `${module}#${exported.name}`,
        modules: [...(known?.modules ?? []), module],
        source: relative(ROOT, target.declarations?.[0]?.getSourceFile().fileName ?? '').replaceAll('\\', '/'),
        isFunction: (target.flags & ts.SymbolFlags.Function) !== 0,
        docstring: ts.displayPartsToString(target.getDocumentationComment(checker)),
        examples: target.getJsDocTags(checker).filter(({ name }) => name === 'example').length,
      });
    }
  }
  return [...names.values()];
}
