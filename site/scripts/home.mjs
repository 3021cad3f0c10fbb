// The first page of the site: site/home.md with the app of the README and with figures of other pages.
import { join } from 'node:path';
import { addressOf, GROUPS, introductionOf, ROOT, read, titleOf } from './pages.mjs';

/** The pictures on it, by their paths in the repository. */
export const PICTURES = ['docs/page-light.png', 'docs/page-dark.png'].map((path) => join(ROOT, path));

const { version, dependencies = {} } = JSON.parse(read('package.json'));

/** Returns the page as Markdown. */
export function homePage() {
  const parts = {
    version,
    lead: introductionOf('README.md').replace(/:.*/, '.'),
    app: find('README.md', /^```ts\n[\s\S]*?^```$/m)[0],
    frameworks: listOf(frameworks()),
    figures: listOf(figures()),
  };
  return read('site/home.md').replace(/<!-- (\w+) -->/g, (_, name) => parts[name]);
}

const linkTo = (file) => `./${addressOf(file).replace(/\.md$/, '.html')}`;
const listOf = (items) => items.map((item) => `<li>${item}</li>`).join('\n');

function frameworks() {
  const pages = GROUPS.find(({ text }) => text === 'Quickstarts')?.pages ?? [];
  return pages.map((file) => `<a href="${linkTo(file)}">${titleOf(file)}</a>`);
}

/** Each figure leads to the page that says how it was measured. */
function figures() {
  const evidence = 'docs/evidence.md';
  const sizes = 'docs/bundle-size.md';
  const [, size] = find(sizes, /with the core \| ([\d.]+) \|/);
  const [, hostile, ending] = find(evidence, /([\d,]+) hostile requests: .*?(\d+ unhandled rejections) \|/);
  const [, noticed, changes] = find(evidence, /([\d.]+ %) of ([\d,]+) are noticed/);
  return [
    figure(
      `${size} kB`,
      'for a whole endpoint on Express in a bundle, minified and gzipped',
      linkTo(sizes),
      'Bundle size',
    ),
    figure(
      `${Object.keys(dependencies).length}`,
      'dependencies to install and to audit',
      linkTo('SECURITY.md'),
      'Security',
    ),
    figure(noticed, `of ${changes} changes to the source are noticed by the tests`, linkTo(evidence), 'Evidence'),
    figure(hostile, `hostile requests in one run, with ${ending}`, linkTo(evidence), 'Evidence'),
  ];
}

const figure = (number, meaning, href, source) =>
  `<strong>${number}</strong> <span>${meaning}</span> <a href="${href}" aria-label="${source}: ${number}">${source}</a>`;

function find(file, pattern) {
  const found = pattern.exec(read(file));
  if (!found) throw new Error(`${file} has no ${pattern}, which the first page of the site shows.`);
  return found;
}
