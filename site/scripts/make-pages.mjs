// Writes site/pages: the Markdown files of the repository with links of the site, and the API reference that TypeDoc
// derives from the docstrings.
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join, posix } from 'node:path';
import { homePage, PICTURES } from './home.mjs';
import { installTabs } from './install-tabs.mjs';
import { makeReference } from './make-reference.mjs';
import { addressOf, pageFiles, ROOT, read, titleOf } from './pages.mjs';

const PAGES = join(import.meta.dirname, '../pages');
const files = pageFiles();

rmSync(PAGES, { recursive: true, force: true });
for (const file of files) {
  const target = join(PAGES, addressOf(file));
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, pageOf(file));
}
writeFileSync(join(PAGES, 'index.md'), homePage());
for (const picture of PICTURES) cpSync(picture, join(PAGES, 'images', basename(picture)));
await makeReference(join(PAGES, 'api'));
console.log(`${files.length} pages and the API reference are in site/pages.`);

function pageOf(file) {
  const titled = read(file).replace(/^# .+$/m, () => `# ${titleOf(file)}`);
  return mapProse(installTabs(titled), (prose) =>
    prose
      .replace(/(!?)\[([^\]]*)\]\((?!https?:|#)([^)#\s]+)(#[^)\s]+)?\)/g, (...[, image, text, path, anchor = '']) =>
        image ? imageOf(file, text, path) : linkOf(file, text, path, anchor),
      )
      // Outside of code, VitePress reads these as a template and as an element of HTML.
      .replace(/`[^`\n]*\{\{[^`\n]*`/g, (code) => `<code v-pre>${escapeHtml(code.slice(1, -1))}</code>`)
      .replace(/<(?=[a-z-]+>)/gi, (bracket, at, whole) => (isInCode(whole, at) ? bracket : '&lt;')),
  );
}

/** A link to a page of the site; other files of the repository have no address, and are named. */
function linkOf(file, text, path, anchor) {
  const target = posix.normalize(posix.join(posix.dirname(file), path));
  if (!files.includes(target)) return text.startsWith('`') || !/\.\w+$/.test(target) ? text : `${text} (\`${target}\`)`;
  const from = posix.dirname(addressOf(file));
  const relative = posix.relative(from, addressOf(target));
  return `[${text}](${relative.startsWith('.') ? relative : `./${relative}`}${anchor})`;
}

/** A picture of a light page stands for both: the site shows the one of the dark page to readers with a dark screen. */
function imageOf(file, text, path) {
  const dark = path.replace('-light.png', '-dark.png');
  if (dark === path || !existsSync(join(ROOT, dirname(file), dark))) return copyOf(file, text, path);
  return `${copyOf(file, text, path)}{.of-light}${copyOf(file, text, dark)}{.of-dark}`;
}

function copyOf(file, text, path) {
  const source = join(ROOT, dirname(file), path);
  if (!existsSync(source)) throw new Error(`${file}: no image ${path}`);
  const name = path.replace(/^.*\//, '');
  const folder = join(PAGES, 'images');
  mkdirSync(folder, { recursive: true });
  cpSync(source, join(folder, name));
  const depth = addressOf(file).split('/').length - 1;
  return `![${text}](${'../'.repeat(depth) || './'}images/${name})`;
}

function isInCode(line, at) {
  const before = line.slice(line.lastIndexOf('\n', at) + 1, at);
  return (before.match(/`/g)?.length ?? 0) % 2 === 1;
}

function escapeHtml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

/** Changes all but the code blocks. */
function mapProse(page, change) {
  return page
    .split(/(^ *```[\s\S]*?^ *```$)/m)
    .map((part, index) => (index % 2 ? part : change(part)))
    .join('');
}

/** What is copied into the site as it is. */
cpSync(join(ROOT, 'site/public'), join(PAGES, 'public'), { recursive: true });
cpSync(join(ROOT, 'LICENSE'), join(PAGES, 'public/license.txt'));
for (const name of readdirSync(join(ROOT, 'schemas'))) {
  if (extname(name) === '.json') cpSync(join(ROOT, 'schemas', name), join(PAGES, 'public/schemas', name));
}
