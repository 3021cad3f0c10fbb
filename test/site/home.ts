import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { markdownPages, ROOT } from '../support/markdown.js';
import { DIST, type Site, wideBlocks } from './built-site.js';

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** The first page of the site. */
export function testHome(site: Site): void {
  it('the home page says what the library is, its version and how it is installed', async () => {
    const page = await site.open('/');
    expect(await page.locator('h1').innerText()).toBe('service-webhooks');
    expect(await page.locator('main').innerText()).toContain('correct receiver');
    expect(await page.locator('main').innerText()).toContain(`Version ${JSON.parse(read('package.json')).version}`);
    const command = page.locator('main .install div.active');
    expect((await command.innerText()).trim()).toBe('npm install service-webhooks express');
    await page.locator('main .install').locator('.tabs').getByText('pnpm').click();
    await expect.poll(async () => (await command.innerText()).trim()).toBe('pnpm add service-webhooks express');
  });

  it('the app on the home page is the first program of the README', async () => {
    const page = await site.open('/');
    const [, program] = /^```ts\n([\s\S]*?)^```$/m.exec(read('README.md')) ?? [];
    const shown = await page.locator('main .app code').innerText();
    expect(shown.replace(/\n+/g, '\n').trim()).toBe(program?.replace(/\n+/g, '\n').trim());
  });

  it('the home page has six cards, and each leads to a page', async () => {
    const page = await site.open('/');
    const links = await page
      .locator('main .VPFeature')
      .evaluateAll((cards) => cards.map((card) => card.getAttribute('href')));
    expect(links).toHaveLength(6);
    expect(new Set(links).size).toBe(6);
    for (const link of links) expect(link).toMatch(/^\/[\w-]+\.html/);
  });

  it('the home page leads to every quickstart', async () => {
    const page = await site.open('/');
    const quickstarts = markdownPages().filter((path) => path.startsWith('docs/quickstart/'));
    expect(await page.locator('main .frameworks a').count()).toBe(quickstarts.length);
  });

  it('each figure on the home page leads to its source, and those of the evidence are in it', async () => {
    const page = await site.open('/');
    const figures = await page.locator('main .figures li').evaluateAll((items) =>
      items.map((item) => ({
        number: item.querySelector('strong')?.textContent ?? '',
        source: item.querySelector('a')?.getAttribute('href') ?? '',
      })),
    );
    expect(figures).toHaveLength(4);
    for (const { number, source } of figures) {
      const path = new URL(source, 'http://site/').pathname;
      const html = readFileSync(join(DIST, path), 'utf8');
      if (path === '/evidence.html') expect(html).toContain(number);
    }
    expect(figures[0]?.number).toMatch(/^\d+(\.\d+)? kB$/);
    expect(figures[1]?.number).toBe('0');
  });

  it.each(['light', 'dark'] as const)('the home page shows the page of dev in %s', async (colorScheme) => {
    const page = await site.open('/', { colorScheme });
    const picture = page.locator('main .local img:visible');
    await picture.scrollIntoViewIfNeeded();
    expect(await picture.getAttribute('src')).toContain(`page-${colorScheme}`);
    await expect
      .poll(() => picture.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth))
      .toBe(1280);
  });

  it.each(['light', 'dark'] as const)(
    'a page of the documentation shows the page of dev in %s',
    async (colorScheme) => {
      const page = await site.open('/start.html', { colorScheme });
      const pictures = await page.locator('.vp-doc img:visible').evaluateAll((all) => all.map((img) => img.outerHTML));
      expect(pictures).toEqual([expect.stringContaining(`page-${colorScheme}`)]);
    },
  );

  it('the footer of the home page leads to the licence, the policies and llms.txt', async () => {
    const page = await site.open('/');
    const links = await page.locator('footer a').evaluateAll((all) => all.map((link) => link.getAttribute('href')));
    expect(links).toEqual(['/license.txt', '/security.html', '/changelog.html', '/contributing.html', '/llms.txt']);
    expect(readFileSync(join(DIST, 'license.txt'), 'utf8')).toBe(read('LICENSE'));
  });

  it('a screen as wide as a phone shows the home page without sideways scrolling, and its menu opens', async () => {
    const page = await site.open('/', { viewport: { width: 375, height: 700 }, isMobile: true, hasTouch: true });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(375);
    await page.locator('.VPNavBarHamburger').click();
    await page.locator('.VPNavScreen').getByText('Troubleshooting').waitFor();
  });

  it('a screen as wide as a phone shows the whole lines of code of the home page', async () => {
    const page = await site.open('/', { viewport: { width: 375, height: 700 }, isMobile: true, hasTouch: true });
    const install = page.locator('main .install');
    for (const manager of ['pnpm', 'yarn', 'bun', 'npm']) {
      await install.locator('.tabs').getByText(manager, { exact: true }).click();
      await install.locator('div.active', { hasText: `${manager} ` }).waitFor();
      expect(await wideBlocks(page)).toEqual([]);
    }
  });
}
