import { expect, it } from 'vitest';
import { markdownPages } from '../support/markdown.js';
import type { Site } from './built-site.js';

const LAPTOP = { viewport: { width: 1366, height: 768 } };

/** The sidebar. */
export function testMenu(site: Site): void {
  it('the sidebar lists the quickstarts by use, and shows them on a click', async () => {
    const page = await site.open('/start.html', LAPTOP);
    const group = page.locator('.VPSidebarItem.level-0', { hasText: 'Quickstarts' });
    const names = group.locator('.level-1');
    expect(await names.first().isVisible()).toBe(false);
    await group.locator('.caret').click();
    await names.first().waitFor();
    const first = ['Express', 'Next', 'Nest', 'Hono', 'Fastify', "Node's own http", 'AWS Lambda', 'Cloudflare Workers'];
    expect((await names.allInnerTexts()).slice(0, first.length)).toEqual(first);
  });

  it('the sidebar opens the quickstarts on a quickstart', async () => {
    const page = await site.open('/quickstart/koa.html', LAPTOP);
    await page.locator('.VPSidebarItem.is-active', { hasText: 'Koa' }).waitFor();
  });

  it.each(['Events', 'Options', 'Production checklist'])(
    'the sidebar shows "%s" on a small laptop without scrolling',
    async (text) => {
      const page = await site.open('/start.html', LAPTOP);
      const box = await page.locator('.VPSidebar').getByText(text, { exact: true }).boundingBox();
      expect(box).not.toBeNull();
      expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(LAPTOP.viewport.height);
    },
  );

  it('every page of the documentation is in the sidebar', async () => {
    const page = await site.open('/start.html', LAPTOP);
    const links = await page.locator('.VPSidebar a').evaluateAll((all) => all.map((link) => link.getAttribute('href')));
    const pages = markdownPages().filter((path) => !path.endsWith('README.md'));
    const addresses = pages.map(
      (path) =>
        `/${path
          .replace(/^docs\//, '')
          .replace(/\.md$/, '.html')
          .toLowerCase()}`,
    );
    expect(addresses.filter((address) => !links.includes(address))).toEqual([]);
  });
}
