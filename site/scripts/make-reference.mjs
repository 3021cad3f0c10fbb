// The API reference as Markdown: one page for each module of the packages, derived from the docstrings by TypeDoc.
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Application } from 'typedoc';
import { MarkdownPageEvent } from 'typedoc-plugin-markdown';
import { manifestOf, PACKAGES } from '../../scripts/packages.mjs';
import { ROOT } from './pages.mjs';

/** Writes the reference into a folder. Rejects where TypeDoc reports an error. */
export async function makeReference(folder) {
  const app = await Application.bootstrapWithPlugins({
    plugin: ['typedoc-plugin-markdown'],
    entryPoints: Object.values(modules()),
    tsconfig: join(ROOT, 'tsconfig.json'),
    compilerOptions: { noEmit: true },
    basePath: ROOT,
    readme: 'none',
    disableSources: true,
    excludeInternal: true,
    excludePrivate: true,
    skipErrorChecking: true,
    outputs: [{ name: 'markdown', path: folder }],
    outputFileStrategy: 'modules',
    entryFileName: 'index',
    hideBreadcrumbs: true,
    hidePageHeader: true,
    useCodeBlocks: true,
    useHTMLAnchors: true,
    parametersFormat: 'table',
    interfacePropertiesFormat: 'list',
    typeAliasPropertiesFormat: 'table',
    logLevel: 'Error',
    sanitizeComments: true,
    expandParameters: true,
    // The main module first, as in `exports`, and in each what a reader calls before what it takes.
    sortEntryPoints: false,
    groupOrder: ['Functions', 'Classes', 'Interfaces', 'Type Aliases', 'Variables', '*'],
  });
  const project = await app.convert();
  if (!project || app.logger.hasErrors()) throw new Error('TypeDoc found errors.');
  // TypeDoc names a module after its file; readers know the name that they import.
  const names = Object.fromEntries(
    Object.entries(modules()).map(([id, file]) => [relative(ROOT, file).replace(/(\/index)?\.ts$/, ''), id]),
  );
  for (const module of project.children ?? []) module.name = names[module.name] ?? module.name;
  for (const reflection of Object.values(project.reflections)) moveExampleUp(reflection.comment);
  app.renderer.on(MarkdownPageEvent.END, (page) => {
    page.contents = withoutEveryCode(withShortUnions(page.contents ?? ''));
  });
  await app.generateOutputs(project);
}

/** An example stands below the first paragraphs, and not below the tables. */
function moveExampleUp(comment) {
  for (const { content } of comment?.getTags('@example') ?? []) {
    comment.summary.push({ kind: 'text', text: '\n\n' }, ...content);
  }
  comment?.removeTags('@example');
}

/** A union of two in a signature stands on the line of its parameter, and in a table begins without a stroke. */
function withShortUnions(page) {
  return page.replace(/: \n +\| (\w+)\n +\| (\w+)\)/g, ': $1 | $2)').replace(/(?<!\\)\| \\\| /g, '| ');
}

/** An error of any code is a `WebhookError`, which TypeDoc writes with the names of all codes. */
function withoutEveryCode(page) {
  return page.replace(/WebhookError\\?<"missing\\?_signature"(?: \\?\| "[\w\\]+")+\\?>/g, 'WebhookError');
}

/** The source of each module of the packages, by the name that users import. */
function modules() {
  return Object.fromEntries(PACKAGES.flatMap(modulesOf));
}

function modulesOf(folder) {
  const { name, exports } = manifestOf(folder);
  return Object.keys(exports)
    .filter((key) => typeof exports[key] !== 'string')
    .map((key) => [`${name}${key.slice(1)}`, sourceOf(folder, key === '.' ? 'index' : key.slice(2))]);
}

/** In the places that scripts/subpaths.ts lists. */
function sourceOf(folder, entry) {
  const candidates = [`src/${entry}.ts`, `src/${entry}/index.ts`, `adapters/${entry}.ts`, `${entry}/index.ts`];
  return candidates.map((path) => join(ROOT, folder, path)).find(existsSync);
}
