// Writes llms.txt (an index of the pages) and llms-full.txt (all of them) next to the built site.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addressFrom, htmlOf } from './address.mjs';
import { addressOf, GROUPS, pageFiles, read, summaryOf, titleOf } from './pages.mjs';

const DIST = join(import.meta.dirname, '../dist');
const { base, urlOf } = addressFrom(process.env['SITE_URL']);
const linkTo = (file) => urlOf(htmlOf(addressOf(file))) ?? `${base}${htmlOf(addressOf(file))}`;
const exists = new Set(pageFiles());
const groups = GROUPS.map(({ text, overview, pages }) => ({
  text,
  pages: [overview, ...pages].filter((file) => exists.has(file)),
}));

const index = groups.map(({ text, pages }) => {
  const lines = pages.map((file) => {
    const summary = summaryOf(file);
    return `- [${titleOf(file)}](${linkTo(file)})${summary && `: ${summary}`}`;
  });
  return `## ${text}\n\n${lines.join('\n')}\n`;
});
const head = `# service-webhooks\n\n> ${summaryOf('README.md')}\n`;
writeFileSync(join(DIST, 'llms.txt'), [head, ...index].join('\n'));

const whole = groups.flatMap(({ pages }) => pages.map((file) => `<!-- ${file} -->\n\n${read(file).trim()}\n`));
writeFileSync(join(DIST, 'llms-full.txt'), whole.join('\n---\n\n'));
console.log('llms.txt and llms-full.txt are in site/dist.');
