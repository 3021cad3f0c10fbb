import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, onTestFinished } from 'vitest';
import type {} from '../../packages/cli/test/page/in-browser/launch.js';
import { chromium as browserPath } from '../integration/chromium.js';
import { isInstalled as isFolderInstalled } from '../integration/file-of.js';
import { ROOT } from '../support/markdown.js';
import { PATIENTLY } from '../support/patiently.js';

const SITE = join(ROOT, 'site');
export const DIST = join(SITE, 'dist');

/** Whether the site can be built and opened here. */
export const isInstalled = isFolderInstalled('site') && browserPath !== undefined;

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};

export interface Site {
  /** Opens a page. An error in the browser, and a request to another host, fail the test. */
  open(path: string, options?: BrowserContextOptions): Promise<Page>;
}

/** Builds the site once for a test file, serves it on a free port, and opens pages of it in Chromium. */
export function useSite(): Site {
  let browser: Browser | undefined;
  let url = '';
  const server = createServer(async ({ url: path = '/' }, res) => {
    const { pathname } = new URL(path, 'http://site');
    const file = join(DIST, pathname.endsWith('/') ? `${pathname}index.html` : decodeURIComponent(pathname));
    const content = await readFile(file).catch(() => undefined);
    res.writeHead(content ? 200 : 404, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' });
    res.end(content);
  });

  beforeAll(async () => {
    const { SITE_URL: _, ...env } = process.env;
    const { status, stdout, stderr } = spawnSync('npm', ['run', 'build'], { cwd: SITE, encoding: 'utf8', env });
    expect(status, `${stdout}${stderr}`).toBe(0);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await chromium.connect(inject('browser'));
  });
  afterAll(async () => {
    await browser?.close();
    server.close();
    server.closeAllConnections();
  });

  return {
    async open(path, options = {}) {
      const context = await (browser as Browser).newContext({ viewport: { width: 1280, height: 800 }, ...options });
      const page = await context.newPage();
      page.setDefaultTimeout(PATIENTLY.timeout);
      const complaints: string[] = [];
      page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
      page.on('pageerror', ({ message }) => complaints.push(message));
      page.on('request', (request) => {
        if (!request.url().startsWith(url) && !request.url().startsWith('data:')) complaints.push(request.url());
      });
      onTestFinished(async () => {
        await context.close();
        expect(complaints).toEqual([]);
      });
      await page.goto(`${url}${path}`, { waitUntil: 'networkidle' });
      return page;
    },
  };
}

/** The code blocks of a page that scroll sideways, with their beginnings. */
export const wideBlocks = (page: Page): Promise<string[]> =>
  page
    .locator('pre')
    .evaluateAll((blocks) =>
      blocks
        .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
        .map(({ textContent, scrollWidth }) => `${scrollWidth} pixels: ${textContent?.slice(0, 100)}`),
    );

/** Opens the search on a page that was just opened, and returns its field. */
export async function openSearch(page: Page): Promise<Locator> {
  const field = page.locator('.VPLocalSearchBox input[type=search]');
  // The key does nothing until the page's script listens for it.
  await expect
    .poll(
      async () => {
        if (!(await field.isVisible())) await page.keyboard.press('Control+k');
        return field.isVisible();
      },
      { interval: 250 },
    )
    .toBe(true);
  return field;
}

/** The results of the site's own search, best first. */
export async function search(page: Page, words: string): Promise<{ href: string; title: string }[]> {
  const field = await openSearch(page);
  const results = page.locator('.VPLocalSearchBox a.result');
  await field.fill('');
  await expect.poll(() => results.count()).toBe(0);
  await field.fill(words);
  await results.first().waitFor();
  const found = await results.evaluateAll((links) =>
    links.map((link) => ({ href: link.getAttribute('href') ?? '', title: link.textContent ?? '' })),
  );
  return found.map(({ href, title }) => ({ href, title: title.replace(/\s+/g, ' ').trim() }));
}
