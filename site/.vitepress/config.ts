import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitepress';
import { addressOf, GROUPS, pageFiles, ROOT } from '../scripts/pages.mjs';

const exists = new Set(pageFiles());

/** The first heading of a page. */
function titleOf(file: string): string {
  const [, title = file] = /^# (.+)$/m.exec(readFileSync(join(ROOT, file), 'utf8')) ?? [];
  return title === 'service-webhooks' ? 'Get started' : title;
}

/** A reader who searches wants the guide first, then the generated reference and the measurements. */
function weightOf(id: string): number {
  return id.includes('/api/') || id.includes('/evidence') || id.includes('/changelog') ? 0.2 : 1;
}

export default defineConfig({
  srcDir: 'pages',
  outDir: 'dist',
  lang: 'en',
  title: 'service-webhooks',
  description: "Makes your server a correct receiver of the service's signed webhooks.",
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  cleanUrls: false,
  lastUpdated: false,
  markdown: {
    // As GitHub derives anchors, so that a link works in both.
    anchor: {
      slugify: (heading) =>
        heading
          .toLowerCase()
          .replace(/[^\p{L}\p{N}\s_-]/gu, '')
          .trim()
          .replaceAll(' ', '-'),
    },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  themeConfig: {
    search: {
      provider: 'local',
      options: {
        miniSearch: {
          searchOptions: { fuzzy: 0.1, prefix: true, boost: { title: 6, text: 1, titles: 2 }, boostDocument: weightOf },
        },
      },
    },
    outline: [2, 3],
    nav: [
      { text: 'Quickstarts', link: '/frameworks' },
      { text: 'Troubleshooting', link: '/troubleshooting' },
      { text: 'Errors', link: '/errors' },
      { text: 'API', link: '/api/' },
    ],
    sidebar: [
      ...GROUPS.map(({ text, pages }) => ({
        text,
        items: pages
          .filter((file) => exists.has(file))
          .map((file) => ({ text: titleOf(file), link: `/${addressOf(file).replace(/(index)?\.md$/, '')}` })),
      })),
      { text: 'API reference', link: '/api/' },
    ],
  },
});
