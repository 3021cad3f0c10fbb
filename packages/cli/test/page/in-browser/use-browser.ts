import { pathToFileURL } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, onTestFinished } from 'vitest';
import { PATIENTLY } from '../../../../../test/support/patiently.js';
import type { PageSource } from '../../../src/page/page-source.js';
import { type Assets, readAssets } from '../../../src/page/server/document.js';
import type {} from '../../support/build-programs.js';
import { served } from '../served.js';
import type {} from './launch.js';
import { carryMutation } from './mutated.js';

/** When the clock of a page starts that a test holds. */
export const NOON = Date.UTC(2026, 6, 11, 12);

/** Opens pages in the Chromium that is launched for all tests. */
export function useBrowser() {
  let browser: Browser;
  let assets: Assets;
  beforeAll(async () => {
    const launched = inject('browser');
    if (launched === undefined) return;
    assets = await readAssets(pathToFileURL(`${inject('built').page}/`));
    browser = await chromium.connect(launched);
  });
  afterAll(() => browser?.close());

  /** A window of its own. Whatever the browser complains about, and whatever it asks of elsewhere, fails the test. */
  async function newWindow(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-GB', ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENTLY.timeout);
    const complaints: string[] = [];
    page.on('console', (message) => {
      // Of an action that is refused, of a connection that was cut and of what is not kept, it is the page that has to say so.
      const isExpected = /\/page\/(actions\/|queue\/|jobs\/|stream$|deliveries\/|attempts\/|search\/|curl\/)/.test(
        message.location().url,
      );
      if (['error', 'warning'].includes(message.type()) && !isExpected) complaints.push(message.text());
    });
    page.on('pageerror', ({ message }) => complaints.push(message));
    page.on('request', (request) => {
      const { hostname } = new URL(request.url());
      if (hostname !== '127.0.0.1') complaints.push(request.url());
    });
    const handBack = await carryMutation(page);
    onTestFinished(async () => {
      await handBack();
      await context.close();
      expect(complaints).toEqual([]);
    });
    return page;
  }

  return {
    newWindow,
    /** The page of a source, open and connected. */
    async open(source: PageSource, options?: BrowserContextOptions) {
      const server = await served(source, assets);
      const page = await newWindow(options);
      await page.goto(server.url);
      await page.locator('.connection.open').waitFor();
      return { page, ...server, assets };
    },
    assets: () => assets,
  };
}

/** The rows of the list that are drawn. */
export const deliveries = (page: Page): Locator => page.getByRole('listbox').getByRole('option');
export const row = (page: Page, text: string | RegExp): Locator => deliveries(page).filter({ hasText: text });
export const button = (page: Page, name: string): Locator => page.getByRole('button', { name, exact: true });
/** What the page says about the latest action. */
export const message = (page: Page): Locator => page.getByRole('status').first();
export const section = (page: Page): Locator => page.getByRole('region', { name: 'Delivery', exact: true });

/** Chooses an item of the menu of the page, or of the delivery. */
export async function choose(page: Page, item: string | RegExp, of = page.locator('header')): Promise<void> {
  await of.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('menuitem', { name: item }).click({ force: true }); // also one that is disabled
}
