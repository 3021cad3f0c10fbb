// Writes llms.txt (an index of the pages) and llms-full.txt (all of them) next to the built site.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addressOf, GROUPS, pageFiles, ROOT } from './pages.mjs';

const DIST = join(import.meta.dirname, '../dist');
const exists = new Set(pageFiles());
const groups = GROUPS.map(({ text, pages }) => ({ text, pages: pages.filter((file) => exists.has(file)) }));
const read = (file) => readFileSync(join(ROOT, file), 'utf8').trim();
const titleOf = (file) => /^# (.+)$/m.exec(read(file))?.[1] ?? file;

/** The first paragraph, as one line without links. */
function summaryOf(file) {
  const [, paragraph = ''] = /^# .+\n+((?!#|\||```|-).+(?:\n.+)*)/m.exec(read(file)) ?? [];
  const text = paragraph.replaceAll('\n', ' ').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
  return /^.*?[.:](?= |$)/.exec(text)?.[0].replace(/:$/, '.') ?? text;
}

const index = groups.map(({ text, pages }) => {
  const lines = pages.map((file) => {
    const summary = summaryOf(file);
    return `- [${titleOf(file)}](/${addressOf(file).replace(/\.md$/, '.html')})${summary && `: ${summary}`}`;
  });
  return `## ${text}\n\n${lines.join('\n')}\n`;
});
const head = `# service-webhooks\n\n> ${summaryOf('README.md')}\n`;
writeFileSync(join(DIST, 'llms.txt'), [head, ...index].join('\n'));

const whole = groups.flatMap(({ pages }) => pages.map((file) => `<!-- ${file} -->\n\n${read(file)}\n`));
writeFileSync(join(DIST, 'llms-full.txt'), whole.join('\n---\n\n'));
console.log('llms.txt and llms-full.txt are in site/dist.');
