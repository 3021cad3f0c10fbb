import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import { ERRORS } from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { allSubpaths } from '../../scripts/subpaths.js';
import { markdownPages, ROOT } from '../support/markdown.js';
import { DIST, isInstalled, search, useSite } from './built-site.js';

/** What a reader asks, what they type, where the answer is, and words of it. */
const QUESTIONS: [question: string, words: string, page: string, answer: RegExp][] = [
  ['Where is the raw body consumed in Next?', 'next raw body', '/quickstart/next.html#raw-body', /request\.json\(\)/],
  ['How do I rotate a secret?', 'rotate', '/rotate-a-secret.html', /Create the second endpoint/],
  [
    'What is in data of dubbing.completed?',
    'dubbing.completed data',
    '/events.html',
    /fields the service does not document/,
  ],
  ['Why is every delivery answered 401?', '401', '/troubleshooting.html', /secret belongs to another endpoint/],
  ['What is logged?', 'what is logged', '/monitoring.html#what-is-logged', /Never logged/],
  [
    'Does a retry run twice on Lambda?',
    'retry twice lambda',
    '/quickstart/aws-lambda.html',
    /default memory store it can/,
  ],
  ['How do I test without a server?', 'test without server', '/testing.html', /You need no server/],
  ['What do I do after a pause?', 'paused endpoint', '/retries.html', /Enable the endpoint again/],
  ['Which store for two machines?', 'store several hosts', '/stores.html', /several hosts and Redis/],
  ['Can I use Node 20?', 'node 20', '/compatibility.html', /from 20\.19 on/],
];

describe.runIf(isInstalled)('the documentation site', { timeout: 60_000 }, () => {
  const site = useSite();
  const pages = () =>
    readdirSync(DIST, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.html') && name !== '404.html',
    );
  const html = (page: string) => readFileSync(join(DIST, page), 'utf8');

  it.each([
    ['raw body', /raw-body/],
    ['rotate', /rotate-a-secret/],
    ['401', /troubleshooting/],
    ['signature_mismatch', /errors\.html#signature_mismatch/],
    ['leaseMs', /options\.html#dedupeleasems/],
  ])('a search for "%s" has the right page among its first three results', async (words, address) => {
    const results = await search(await site.open('/'), words);
    const first = results.slice(0, 3).map(({ href }) => href);
    expect(
      first.some((href) => address.test(href)),
      first.join('\n'),
    ).toBe(true);
  });

  it.each(QUESTIONS)(
    'a search for the question "%s" finds the page with the answer',
    async (_, words, address, answer) => {
      const page = await site.open('/');
      const results = await search(page, words);
      const [path = ''] = address.split('#');
      const result = results.slice(0, 3).find(({ href }) => href.startsWith(path));
      expect(result, results.map(({ href }) => href).join('\n')).toBeDefined();
      await page.goto(new URL(result?.href ?? '', page.url()).href, { waitUntil: 'networkidle' });
      expect(await page.locator('.vp-doc').innerText()).toMatch(answer);
    },
  );

  it('every link leads to a page or a heading', () => {
    const ids = new Map(
      pages().map((page) => [`/${page}`, new Set([...html(page).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]),
    );
    const dead = pages().flatMap((page) =>
      [...html(page).matchAll(/<a [^>]*?href="([^"]+)"/g)].flatMap(([, href = '']) => {
        const { pathname, hash, host } = new URL(href, `http://site/${page}`);
        if (host !== 'site') return [];
        const target = pathname.endsWith('/') ? `${pathname}index.html` : pathname;
        const anchors = ids.get(target);
        if (!anchors) return /\.(txt|json)$/.test(target) ? [] : [`${page}: ${href}`];
        return hash === '' || anchors.has(decodeURIComponent(hash.slice(1))) ? [] : [`${page}: ${href}`];
      }),
    );
    expect(pages().length).toBeGreaterThan(60);
    expect(dead).toEqual([]);
  });

  it('every Markdown file, error code and module has its page or anchor', () => {
    expect(pages().length).toBeGreaterThan(markdownPages().length);
    const idsOf = (page: string) => [...html(page).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(idsOf('errors.html')).toEqual(expect.arrayContaining(Object.keys(ERRORS)));
    expect(pages()).toEqual(expect.arrayContaining(allSubpaths.map(({ name }) => `api/${name}.html`)));
    expect(idsOf('api/service-webhooks.html')).toContain('createreceiver');
  });

  it.each([
    ['/', 'light'],
    ['/', 'dark'],
    ['/errors.html', 'light'],
    ['/options.html', 'dark'],
    ['/quickstart/express.html', 'dark'],
    ['/api/service-webhooks/express.html', 'light'],
  ] as const)('axe finds no accessibility violation on %s in %s', async (path, colorScheme) => {
    const page = await site.open(path, { colorScheme });
    await page.evaluate(axe.source);
    const { violations } = (await page.evaluate('axe.run()')) as axe.AxeResults;
    expect(
      violations.map(
        ({ id, nodes }) =>
          `${id}: ${nodes
            .slice(0, 3)
            .map(({ html }) => html)
            .join('\n')}`,
      ),
    ).toEqual([]);
  });

  it.each(['/', '/errors.html', '/options.html', '/stores.html', '/api/service-webhooks.html'])(
    'a screen as wide as a phone shows %s without sideways scrolling, and its menu opens',
    async (path) => {
      const page = await site.open(path, { viewport: { width: 375, height: 700 }, isMobile: true, hasTouch: true });
      const { width, scroll } = (await page.evaluate(
        '({ width: document.documentElement.clientWidth, scroll: document.documentElement.scrollWidth })',
      )) as { width: number; scroll: number };
      expect(scroll).toBeLessThanOrEqual(width);
      await page.locator('.VPLocalNav .menu').click();
      await page.locator('.VPSidebar.open').getByText('Production checklist').waitFor();
    },
  );

  it('llms.txt lists the pages of the menu, and llms-full.txt has their text', () => {
    const index = readFileSync(join(DIST, 'llms.txt'), 'utf8');
    const links = [...index.matchAll(/\]\(\/([^)]+)\)/g)].map(([, path = '']) => path);
    expect(links.length).toBeGreaterThan(40);
    for (const path of links) expect(pages()).toContain(path);
    const full = readFileSync(join(DIST, 'llms-full.txt'), 'utf8');
    for (const file of ['README.md', 'docs/events.md', 'docs/quickstart/next.md']) {
      expect(full).toContain(readFileSync(join(ROOT, file), 'utf8').trim());
    }
  });
});
