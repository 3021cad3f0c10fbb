// The pages of the site, by the Markdown file of the repository, with their addresses. The order is that of the sidebar.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

/** The quickstarts that most readers look for come first. */
const FIRST_QUICKSTARTS = [
  'express',
  'next',
  'nest',
  'hono',
  'fastify',
  'node',
  'aws-lambda',
  'workers',
  'vercel-and-netlify',
  'sveltekit',
  'astro',
  'react-router',
  'h3',
  'koa',
  'bun-and-deno',
  'elysia',
  'azure-functions',
  'google-cloud-functions',
].map((name) => `docs/quickstart/${name}.md`);

const quickstarts = readdirSync(join(ROOT, 'docs/quickstart')).map((name) => `docs/quickstart/${name}`);

/**
 * `overview`: the page that the heading of the group leads to. Such a group is closed until its overview or a page of it is open.
 *
 * @type {readonly { text: string, overview?: string, pages: readonly string[] }[]}
 */
export const GROUPS = [
  {
    text: 'Start',
    pages: ['README.md', 'docs/receiving.md', 'docs/local-development.md', 'docs/testing.md', 'docs/mocking.md'],
  },
  {
    text: 'Quickstarts',
    overview: 'docs/frameworks.md',
    pages: [...new Set([...FIRST_QUICKSTARTS, ...quickstarts])],
  },
  {
    text: 'Look up',
    pages: [
      'docs/events.md',
      'docs/data.md',
      'docs/options.md',
      'docs/types.md',
      'docs/errors.md',
      'docs/cli.md',
      'docs/explain.md',
      'docs/emulator.md',
      'docs/client.md',
      'docs/schemas.md',
    ],
  },
  {
    text: 'Run it',
    pages: [
      'docs/production.md',
      'docs/retries.md',
      'docs/jobs.md',
      'docs/background-work.md',
      'docs/stores.md',
      'docs/queues.md',
      'docs/queue-recipes.md',
      'docs/serverless.md',
      'docs/multi-tenancy.md',
      'docs/several-vendors.md',
      'docs/integrations.md',
      'docs/rotate-a-secret.md',
      'docs/monitoring.md',
      'docs/troubleshooting.md',
    ],
  },
  {
    text: 'Decide',
    pages: [
      'docs/migrate.md',
      'docs/compatibility.md',
      'docs/runtimes.md',
      'docs/bundle-size.md',
      'SECURITY.md',
      'docs/evidence.md',
      'CHANGELOG.md',
    ],
  },
  {
    text: 'Contribute',
    pages: ['docs/add-a-store.md', 'docs/add-an-adapter.md', 'docs/add-a-queue.md', 'CONTRIBUTING.md'],
  },
];

const ADDRESSES = { 'README.md': 'start.md', 'docs/README.md': 'contents.md' };

/** Returns the address of a page's Markdown file on the site, such as `quickstart/express.md`. */
export function addressOf(file) {
  return ADDRESSES[file] ?? file.replace(/^docs\//, '').toLowerCase();
}

/** Every Markdown file that is a page of the site. */
export function pageFiles() {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name.replaceAll('\\', '/')}`);
  return ['README.md', 'SECURITY.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...docs.sort()];
}

export const read = (file) => readFileSync(join(ROOT, file), 'utf8');

/** The first heading of a page. */
export function titleOf(file) {
  return file === 'README.md' ? 'Get started' : (/^# (.+)$/m.exec(read(file))?.[1] ?? file);
}

/** The first paragraph of a page, as one line without links. */
export function introductionOf(file) {
  const [, paragraph = ''] = /^# .+\n+((?!#|\||```|-).+(?:\n.+)*)/m.exec(read(file)) ?? [];
  return paragraph.replaceAll('\n', ' ').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
}

/** What a page is about, in a sentence: its first one. */
export function summaryOf(file) {
  if (file === 'README.md') return JSON.parse(read('package.json')).description;
  const text = introductionOf(file);
  return /^.*?[.:](?= |$)/.exec(text)?.[0].replace(/:$/, '.') ?? text;
}
