import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { chromium } from '../../../../../test/integration/chromium.js';
import { anAttempt, aRow, memorySource } from '../memory-source.js';
import { deliveries, NOON, section, useBrowser } from './use-browser.js';

describe.skipIf(chromium === undefined)('the address and the keys of the page', () => {
  const { open } = useBrowser();
  const list = (page: Page) => page.getByRole('listbox');
  const hash = (page: Page) => page.evaluate(() => location.hash);
  const focused = (page: Page) => page.evaluate(() => document.activeElement?.id || document.activeElement?.role);
  const selected = async (page: Page) =>
    (
      await list(page)
        .locator('[aria-selected=true]')
        .evaluateAll((rows) => rows.map(({ id }) => id))
    )[0];

  function aSource() {
    const source = memorySource();
    source.put(
      aRow(1, { type: 'dubbing.failed', state: 'dead', createdAt: NOON - 2 * 3_600_000 }),
      aRow(2, { createdAt: NOON - 60_000 }),
      aRow(3, { createdAt: NOON }),
    );
    for (const n of [1, 2, 3]) {
      source.detail(`dlv_${n}`, {}, anAttempt(1, { id: `${n}1` }), anAttempt(2, { id: `${n}2` }));
    }
    return source;
  }

  it('selection and filter are in the URL, and a reload keeps them', async () => {
    const { page } = await open(aSource());
    await page.getByLabel('Search deliveries').fill('dlv');
    await page.getByLabel('State', { exact: true }).selectOption('dead');
    await page.getByLabel('Type', { exact: true }).selectOption('dubbing.failed');
    await deliveries(page).first().click();
    await page.getByRole('button', { name: 'Attempt 1: 200' }).click();
    await expect.poll(() => hash(page)).toBe('#delivery=dlv_1&attempt=11&q=dlv&state=dead&type=dubbing.failed');
    await page.reload();
    await page.getByRole('article', { name: 'Attempt 1' }).waitFor();
    expect(await selected(page)).toBe('row-dlv_1');
    expect(await deliveries(page).count()).toBe(1);
    expect(await page.getByLabel('Search deliveries').inputValue()).toBe('dlv');
    expect(await page.getByLabel('Type', { exact: true }).inputValue()).toBe('dubbing.failed');
    expect(await page.title()).toBe('dubbing.failed dead · Deliveries of a test');
  });

  it('Back, Forward and links lead to other deliveries', async () => {
    const { page, url } = await open(aSource());
    await deliveries(page).nth(1).click();
    await expect.poll(() => hash(page)).toBe('#delivery=dlv_2');
    await page.goBack();
    await section(page).getByText('Select a delivery').waitFor();
    expect(await hash(page)).toBe('');
    await page.goForward();
    await page.getByRole('article', { name: 'Attempt 2' }).waitFor();
    await page.goto(`${url}#delivery=dlv_3&attempt=31`);
    await page.getByRole('article', { name: 'Attempt 1' }).waitFor();
    expect(await selected(page)).toBe('row-dlv_3');
    await page.goto(`${url}#delivery=dlv_gone&type=voice.retired`);
    await section(page).getByText('This delivery is no longer kept.').waitFor();
    await list(page).getByText('No delivery matches the filter.').waitFor();
    expect(await page.getByLabel('Type', { exact: true }).inputValue()).toBe('voice.retired');
  });

  it('a link to a delivery far down the list scrolls to it', async () => {
    const source = memorySource();
    source.put(...Array.from({ length: 1_000 }, (_, n) => aRow(n)));
    const { page, url } = await open(source);
    await page.goto('about:blank');
    await page.goto(`${url}#delivery=dlv_5`);
    const row = deliveries(page).filter({ hasText: /evt_5 / });
    await row.waitFor();
    const [box, frame] = await Promise.all([row.boundingBox(), list(page).boundingBox()]);
    expect(box?.y).toBeGreaterThanOrEqual(frame?.y ?? 0);
    expect((box?.y ?? 0) + 34).toBeLessThanOrEqual((frame?.y ?? 0) + (frame?.height ?? 0));
  });

  it('/ searches, j and k select, Enter opens and Escape goes back', async () => {
    const { page } = await open(aSource());
    await deliveries(page).first().waitFor();
    const walked: unknown[] = [];
    for (const key of ['j', 'j', 'k', 'j', 'j', 'j']) {
      await page.keyboard.press(key);
      await page.evaluate(() => new Promise(requestAnimationFrame));
      walked.push(await selected(page));
    }
    expect(walked).toEqual(['row-dlv_3', 'row-dlv_2', 'row-dlv_3', 'row-dlv_2', 'row-dlv_1', 'row-dlv_1']);
    await page.keyboard.press('Enter');
    expect(await focused(page)).toBe('delivery');
    await page.keyboard.press('Escape');
    await section(page).getByText('Select a delivery').waitFor();
    expect(await focused(page)).toBe('listbox');
    await page.keyboard.press('/');
    expect(await focused(page)).toBe('search');
    await page.keyboard.type('j/k dlv_2');
    expect(await page.getByLabel('Search deliveries').inputValue()).toBe('j/k dlv_2');
    expect(await selected(page)).toBeUndefined();
    await page.keyboard.press('Escape');
    expect(await page.getByLabel('Search deliveries').inputValue()).toBe('');
    await page.keyboard.press('Escape');
    await expect.poll(() => focused(page)).toBe('listbox');
    await page.keyboard.press('Control+k');
    expect(await selected(page)).toBeUndefined();
  });

  it('Enter after j opens the selection, whatever was clicked before', async () => {
    const sent: string[] = [];
    const source = { ...aSource(), actions: { send: async () => `It was sent ${sent.push('')} times.` } };
    const { page } = await open(source);
    await page.getByRole('button', { name: 'Send a sample' }).click();
    await page.getByText('It was sent 1 times.').waitFor();
    await page.keyboard.press('j');
    expect(await focused(page)).toBe('listbox');
    await page.keyboard.press('Enter');
    expect(await focused(page)).toBe('delivery');
    await page.getByRole('article').waitFor();
    expect(sent).toHaveLength(1);
  });

  it('the time filter hides deliveries that are older than the chosen span', async () => {
    const source = aSource();
    const { page } = await open(source);
    const shown = async () => (await deliveries(page).allInnerTexts()).map((text) => /evt_\d/.exec(text)?.[0]);
    const time = page.getByLabel('Time', { exact: true });
    expect(await time.locator('option').allInnerTexts()).toEqual([
      'any time',
      'last 5 minutes',
      'last hour',
      'last day',
    ]);
    await time.selectOption({ label: 'last 5 minutes' });
    await expect.poll(shown).toEqual(['evt_3', 'evt_2']);
    await expect.poll(() => hash(page)).toBe('#since=5');
    source.oversee({ now: NOON + 270_000 });
    await expect.poll(shown).toEqual(['evt_3']);
    await time.selectOption({ label: 'last day' });
    await expect.poll(shown).toEqual(['evt_3', 'evt_2', 'evt_1']);
  });

  describe('a phone', () => {
    const viewport = { width: 390, height: 844 };

    it('a delivery opens over the list, and closes by button, Escape and Back', async () => {
      const { page } = await open(aSource(), { viewport, hasTouch: true });
      const back = page.getByRole('button', { name: 'All deliveries' });
      expect(await section(page).isVisible()).toBe(false);
      const closing = [() => back.tap(), () => page.keyboard.press('Escape'), () => page.goBack()];
      for (const close of closing) {
        await deliveries(page).first().tap();
        await page.getByRole('article').waitFor();
        expect(await section(page).boundingBox()).toEqual({ x: 0, y: 0, ...viewport });
        await expect.poll(() => focused(page)).toBe('delivery');
        expect(await page.locator('.overview').getAttribute('inert')).toBe('');
        await close();
        await section(page).waitFor({ state: 'hidden' });
        expect(await page.locator('.overview').getAttribute('inert')).toBeNull();
        await expect.poll(() => focused(page)).toBe('listbox');
      }
    });

    it('nothing is wider than the screen, and the endpoints are folded', async () => {
      const { page } = await open(aSource(), { viewport });
      const width = () => page.evaluate(() => document.documentElement.scrollWidth);
      expect(await width()).toBe(390);
      expect(await page.locator('.tools').getAttribute('open')).toBeNull();
      await page.getByText('Endpoint', { exact: true }).click();
      await page.getByRole('list', { name: 'Endpoints' }).waitFor();
      expect(await width()).toBe(390);
      await deliveries(page).first().click();
      await page.getByRole('article').waitFor();
      expect(await width()).toBe(390);
      expect(await section(page).evaluate((box) => box.scrollWidth)).toBe(390);
    });

    it('an attempt that is selected is scrolled into view, in the timeline and below it', async () => {
      const source = memorySource();
      const attempts = [1, 2, 3, 4, 5, 6].map((n) => anAttempt(n, { acknowledged: false, status: 500 }));
      source.put(aRow(1, { state: 'dead', attempts: 6 }));
      const waits = [30_000, 120_000, 600_000, 3_600_000, 14_400_000];
      source.detail('dlv_1', { waits }, ...attempts);
      const { page } = await open(source, { viewport: { width: 390, height: 500 } });
      const inView = async (part: Locator) => {
        const box = await part.boundingBox();
        return box !== null && box.x >= 0 && box.x + box.width <= 390 && box.y >= 0 && box.y < 500;
      };
      await deliveries(page).first().click();
      await page.getByRole('article', { name: 'Attempt 6' }).waitFor();
      const newest = page.getByRole('button', { name: 'Attempt 6: 500' });
      await newest.waitFor();
      expect([await inView(newest), await section(page).evaluate((box) => box.scrollTop)]).toEqual([true, 0]);
      await page
        .getByRole('button', { name: 'Attempt 2: 500' })
        .evaluate((button: HTMLButtonElement) => button.click());
      const heading = page.getByRole('heading', { name: 'Attempt 2' });
      await heading.waitFor();
      await expect.poll(() => inView(heading)).toBe(true);
      const back = await page.getByRole('button', { name: 'All deliveries' }).boundingBox();
      expect((await heading.boundingBox())?.y).toBeGreaterThan((back?.y ?? 0) + (back?.height ?? 0));
      await section(page).evaluate((box) => box.scrollTo(0, 0));
      expect(await inView(page.getByRole('button', { name: 'Attempt 2: 500' }))).toBe(true);
    });

    it('the result of an action is seen over the delivery', async () => {
      const source = { ...aSource(), actions: { replay: async () => 'It was sent again: 200.' } };
      source.detail('dlv_3', { offers: ['replay'] }, anAttempt(1, { id: '31' }));
      const { page } = await open(source, { viewport });
      await deliveries(page).first().click();
      await page.getByRole('button', { name: 'Send again', exact: true }).click();
      const said = page.getByText('It was sent again: 200.');
      await said.click(); // nothing is over it
    });

    it('a wider screen has the list next to the delivery', async () => {
      const { page } = await open(aSource());
      await deliveries(page).first().click();
      await page.getByRole('article').waitFor();
      expect(await page.locator('.overview').getAttribute('inert')).toBeNull();
      expect(await page.getByRole('button', { name: 'All deliveries' }).isVisible()).toBe(false);
      expect(await page.locator('.tools').getAttribute('open')).not.toBeNull();
    });
  });
});
