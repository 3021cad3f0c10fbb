// The pages of the site, by the Markdown file of the repository, with their addresses. The order is that of the sidebar.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

const quickstarts = readdirSync(join(ROOT, 'docs/quickstart')).map((name) => `docs/quickstart/${name}`);

/** @type {readonly { text: string, pages: readonly string[] }[]} */
export const GROUPS = [
  {
    text: 'Start',
    pages: [
      'README.md',
      'docs/frameworks.md',
      'docs/receiving.md',
      'docs/local-development.md',
      'docs/testing.md',
      'docs/background-work.md',
    ],
  },
  { text: 'Quickstarts', pages: quickstarts },
  {
    text: 'Look up',
    pages: [
      'docs/events.md',
      'docs/types.md',
      'docs/options.md',
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
      'docs/stores.md',
      'docs/queues.md',
      'docs/serverless.md',
      'docs/multi-tenancy.md',
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

const INDEX = { 'README.md': 'index.md', 'docs/README.md': 'contents.md' };

/** Returns the address of a page's Markdown file on the site, such as `quickstart/express.md`. */
export function addressOf(file) {
  return INDEX[file] ?? file.replace(/^docs\//, '').toLowerCase();
}

/** Every Markdown file that is a page of the site. */
export function pageFiles() {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name.replaceAll('\\', '/')}`);
  return ['README.md', 'SECURITY.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...docs.sort()];
}
