import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { addressFrom, previewTags } from '../scripts/address.mjs';
import { addressOf, GROUPS, pageFiles, summaryOf, titleOf } from '../scripts/pages.mjs';
import { boostOf, termsOf, withoutFillers } from './search.js';

const address = addressFrom(process.env['SITE_URL']);
const { base } = address;
const exists = new Set(pageFiles());
const fileAt = new Map(pageFiles().map((file) => [addressOf(file), file]));
const linkTo = (file: string) => `/${addressOf(file).replace(/\.md$/, '')}`;
const isReference = (path: string) => path.startsWith('api/');

/** What a page is about, for search engines and for the preview of a link. */
function descriptionOf(path: string, title: string): string | undefined {
  const file = fileAt.get(path);
  if (file) return summaryOf(file).replace(/`/g, '') || undefined;
  return isReference(path) ? `The API reference of ${title}.` : undefined;
}

export default defineConfig({
  base,
  srcDir: 'pages',
  outDir: 'dist',
  lang: 'en',
  title: 'service-webhooks',
  description: summaryOf('README.md'),
  head: [
    ['link', { rel: 'icon', type: 'image/svg+xml', href: `${base}mark.svg` }],
    ['meta', { name: 'theme-color', content: '#0b6b61' }],
  ],
  // The reference has a search index of its own, because VitePress keeps one for each locale.
  locales: { root: { label: '' }, api: { label: '' } },
  cleanUrls: false,
  lastUpdated: false,
  transformPageData({ relativePath, title, frontmatter }) {
    if (isReference(relativePath)) frontmatter['pageClass'] = 'of-reference';
    const description = descriptionOf(relativePath, title);
    return description === undefined ? {} : { description };
  },
  transformHead: ({ page, title, description }) => previewTags(address, { page, title, description }),
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
  vite: {
    resolve: {
      alias: [
        {
          find: /^\.\/VPLocalSearchBox\.vue$/,
          replacement: fileURLToPath(new URL('./theme/search-box.ts', import.meta.url)),
        },
      ],
    },
  },
  themeConfig: {
    logo: { src: '/mark.svg', width: 24, height: 24 },
    logoLink: base,
    search: {
      provider: 'local',
      options: {
        detailedView: false,
        locales: { api: { translations: { button: { buttonText: 'Search API', buttonAriaLabel: 'Search API' } } } },
        miniSearch: {
          options: { tokenize: termsOf, processTerm: withoutFillers },
          searchOptions: {
            fuzzy: 0.1,
            prefix: true,
            weights: { fuzzy: 0.2, prefix: 0.3 },
            boost: { title: 5, text: 1, titles: 2 },
            boostDocument: boostOf,
          },
        },
      },
    },
    outline: [2, 3],
    nav: [
      { text: 'Quickstarts', link: '/frameworks' },
      { text: 'Events', link: '/events' },
      { text: 'Options', link: '/options' },
      { text: 'Troubleshooting', link: '/troubleshooting' },
      { text: 'API', link: '/api/' },
    ],
    sidebar: [
      ...GROUPS.map(({ text, overview, pages }) => ({
        text,
        ...(overview && { link: linkTo(overview), collapsed: true }),
        items: pages.filter((file) => exists.has(file)).map((file) => ({ text: titleOf(file), link: linkTo(file) })),
      })),
      { text: 'API reference', link: '/api/' },
    ],
    footer: {
      message: [
        ['license.txt', 'MIT licence'],
        ['security.html', 'Security'],
        ['changelog.html', 'Changelog'],
        ['contributing.html', 'Contributing'],
        ['llms.txt', 'llms.txt'],
      ]
        .map(([path, text]) => `<a href="${base}${path}">${text}</a>`)
        .join(' '),
    },
  },
});
