import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import { ERRORS } from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { allSubpaths } from '../../scripts/subpaths.js';
import { markdownPages, ROOT } from '../support/markdown.js';
import { DIST, isInstalled, useSite, wideBlocks } from './built-site.js';
import { testHome } from './home.js';
import { testMenu } from './menu.js';
import { testSearch } from './searching.js';

describe.runIf(isInstalled)('the documentation site', () => {
  const site = useSite();
  testHome(site);
  testMenu(site);
  testSearch(site);

  const pages = () =>
    readdirSync(DIST, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.html') && name !== '404.html',
    );
  const html = (page: string) => readFileSync(join(DIST, page), 'utf8');

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
    ['/start.html', 'light'],
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

  it.each(['/start.html', '/errors.html', '/options.html', '/stores.html', '/api/service-webhooks.html'])(
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

  it('a screen as wide as a phone shows the whole lines of code of the API reference', async () => {
    const phone = { viewport: { width: 375, height: 700 }, isMobile: true, hasTouch: true };
    expect(await wideBlocks(await site.open('/api/service-webhooks.html', phone))).toEqual([]);
  });

  it('no code block of a page scrolls sideways on a screen of 1366 pixels', async () => {
    // The pages are complete without their scripts, which would take most of the time.
    const page = await site.open('/', { viewport: { width: 1366, height: 768 }, javaScriptEnabled: false });
    const wide: string[] = [];
    for (const path of pages()) {
      await page.goto(new URL(`/${path}`, page.url()).href, { waitUntil: 'load' });
      wide.push(...(await wideBlocks(page)).map((block) => `${path}: ${block}`));
    }
    expect(wide).toEqual([]);
  });

  it('the mark of the site is served as its icon', async () => {
    const page = await site.open('/errors.html');
    const icon = await page.locator('link[rel=icon]').getAttribute('href');
    const { status, type } = (await page.evaluate(
      `fetch(${JSON.stringify(icon)}).then(({ status, headers }) => ({ status, type: headers.get('content-type') }))`,
    )) as { status: number; type: string };
    expect({ status, type }).toEqual({ status: 200, type: 'image/svg+xml' });
  });

  it('every page has a title and a description for a preview of its link, and no picture without a host', () => {
    for (const name of pages()) {
      const page = html(name);
      const [, title] = /<meta property="og:title" content="([^"]+)"/.exec(page) ?? [];
      const [, description] = /<meta property="og:description" content="([^"]+)"/.exec(page) ?? [];
      expect(page, name).not.toMatch(/og:image|og:url|summary_large_image/);
      expect(title, name).toMatch(/service-webhooks/);
      expect(description, name).toMatch(/\w+ \w+/);
    }
    const picture = readFileSync(join(DIST, 'link-picture.png'));
    expect([picture.readUInt32BE(16), picture.readUInt32BE(20)]).toEqual([1200, 630]);
  });

  it('the reference of an adapter begins with its signature and an example', async () => {
    const page = await site.open('/api/service-webhooks/express.html');
    const text = await page.locator('.vp-doc').innerText();
    expect(text).toContain('function webhookHandler(receiverOrOptions: Receiver | EndpointOptions): NodeHandler;');
    expect(text.indexOf("app.post('/webhooks', webhookHandler(")).toBeLessThan(text.indexOf('Parameters'));
  });

  it('the reference names an error of any code by its type', async () => {
    const page = await site.open('/api/service-webhooks.html');
    const text = await page.locator('.vp-doc').innerText();
    expect(text).toContain('function isWebhookError(value: unknown): value is WebhookError;');
    expect(text).not.toContain('WebhookError<"missing_signature"');
  });

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
