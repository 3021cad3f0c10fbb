import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { chromium } from '../../../../../test/integration/chromium.js';
import { aRow, memorySource } from '../memory-source.js';
import { deliveries, row, useBrowser } from './use-browser.js';

describe.skipIf(chromium === undefined)('deliveries that arrive while the page is open', () => {
  const { open } = useBrowser();
  const list = (page: Page) => page.getByRole('listbox');

  async function openWith(count: number, options = {}) {
    const source = memorySource();
    source.put(...Array.from({ length: count }, (_, n) => aRow(n)));
    const opened = await open(source, options);
    await deliveries(opened.page).first().waitFor();
    return { ...opened, source };
  }

  it('a new row is marked for a moment, and no other', async () => {
    const { page, source } = await openWith(2);
    source.put(aRow(2), aRow(1, { state: 'dead' }));
    await row(page, 'evt_2').waitFor();
    expect(await page.locator('.row.new').evaluateAll((rows) => rows.map(({ id }) => id))).toEqual(['row-dlv_2']);
    const animation = () => page.locator('.row.new').evaluate((box) => getComputedStyle(box).animationTimingFunction);
    expect(await animation()).toBe('ease-in');
    await page.emulateMedia({ reducedMotion: 'reduce' });
    expect(await animation()).toMatch(/^steps\(1/); // no change of colour by degrees
  });

  it('the title counts what comes while the page is hidden', async () => {
    const { page, source } = await openWith(2);
    const hide = (hidden: boolean) =>
      page.evaluate((hidden) => {
        Object.defineProperty(document, 'hidden', { configurable: true, value: hidden });
        document.dispatchEvent(new Event('visibilitychange'));
      }, hidden);
    source.put(aRow(2));
    await row(page, 'evt_2').waitFor();
    expect(await page.title()).toBe('Deliveries of a test');
    await hide(true);
    source.put(aRow(3), aRow(4));
    await expect.poll(() => page.title()).toBe('(2) Deliveries of a test');
    source.put(aRow(3, { state: 'dead' }), aRow(5));
    await expect.poll(() => page.title()).toBe('(3) Deliveries of a test');
    await hide(false);
    await expect.poll(() => page.title()).toBe('Deliveries of a test');
  });

  it('a button leads to what came while the list was scrolled away', async () => {
    const { page, source } = await openWith(200);
    const newer = page.getByRole('button', { name: /new$/ });
    await list(page).evaluate((box) => {
      box.scrollTop = 2_000;
    });
    source.put(aRow(200));
    source.put(aRow(201), aRow(202), aRow(5, { state: 'dead' }));
    await expect.poll(() => newer.allInnerTexts()).toEqual(['↑ 3 new']);
    await newer.click();
    await newer.waitFor({ state: 'detached' });
    expect(await list(page).evaluate((box) => box.scrollTop)).toBe(0);
    expect(await page.evaluate(() => document.activeElement?.role)).toBe('listbox');
    source.put(aRow(203));
    await row(page, 'evt_203').waitFor();
    expect(await newer.count()).toBe(0);
  });

  it('another filter shows no deliveries as new', async () => {
    const { page } = await openWith(200);
    await list(page).evaluate((box) => {
      box.scrollTop = 2_000;
    });
    await page.getByLabel('Search deliveries').fill('evt_1');
    await expect.poll(() => page.locator('.filter .note').innerText()).toContain(' of 200');
    await page.getByLabel('Search deliveries').fill('');
    await page.getByText('200 deliveries').first().waitFor();
    expect(await page.getByRole('button', { name: /new$/ }).count()).toBe(0);
  });
});
