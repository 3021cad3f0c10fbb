import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { chromium } from '../../../../../test/integration/chromium.js';
import { emulated } from '../emulator/emulated.js';
import { aRow, memorySource } from '../memory-source.js';
import { useBrowser } from './use-browser.js';

describe.skipIf(chromium === undefined)('the page with an emulator', { timeout: 30_000 }, () => {
  const { open } = useBrowser();
  const deliveries = (page: Page) => page.getByRole('listbox').getByRole('option');
  const row = (page: Page, text: string) => deliveries(page).filter({ hasText: text });
  const status = (page: Page) => page.getByRole('status').first();

  it('deliveries appear as they come, with their state', async () => {
    const { emulator, source } = await emulated({ fails: () => true });
    const { page } = await open(source);
    await page.getByText('No deliveries yet.').waitFor();
    await emulator.emit('stt.completed');
    await row(page, 'waiting stt.completed').waitFor();
    await emulator.runUntilIdle();
    await row(page, 'dead stt.completed').waitFor();
    expect(await row(page, 'dead stt.completed').innerText()).toMatch(/6 attempts[\s\S]*500/);
  });

  it('a delivery shows its attempts, headers, body, answer and signature', async () => {
    const { emulator, source, url } = await emulated({ faults: { corrupt: { rate: 1, times: 1 } } });
    const { page } = await open(source);
    const { event } = await emulator.emit('stt.completed');
    await row(page, event.id).click();
    const timeline = page.getByRole('list').filter({ hasText: '10 min' });
    await timeline.getByRole('button', { name: 'Attempt 1: 401, failed' }).waitFor();
    expect(await timeline.innerText()).toMatch(/30 s[\s\S]*in 30 s[\s\S]*2 min[\s\S]*10 min[\s\S]*1 h[\s\S]*4 h/);
    await page.getByText('Verification fails: signature_mismatch').waitFor();
    await page.getByText('body_changed').waitFor();
    await emulator.runUntilIdle();
    await page.getByText('The signature is valid.').waitFor();
    await page.getByRole('button', { name: 'Attempt 2: 200, acknowledged' }).waitFor();
    const attempt = page.getByRole('article', { name: 'Attempt 2' });
    await attempt
      .getByText(/^\d+ headers$/)
      .last()
      .click();
    expect(await attempt.getByRole('table', { name: 'Headers of the request' }).innerText()).toMatch(
      /x-service-signature-v2\s+t=\d+,v1=[0-9a-f]{64}/,
    );
    expect(await attempt.getByText(`POST ${url}`).count()).toBe(1);
    const body = attempt.getByRole('textbox', { name: 'Body of the request' });
    expect(await body.inputValue()).toBe(JSON.stringify(event, null, 2));
    await attempt.getByLabel('indented').last().uncheck();
    expect(await body.inputValue()).toBe(JSON.stringify(event));
    await page.getByRole('button', { name: 'Attempt 1: 401, failed' }).click();
    await page.getByRole('article', { name: 'Attempt 1' }).getByText('body_changed').waitFor();
  });

  it('buttons do what they say, and report it', async () => {
    let fails = true;
    const { source, emulator } = await emulated({ fails: () => fails });
    const { page } = await open(source);
    const click = (name: string) => page.getByRole('button', { name, exact: name === 'Redeliver' }).click();

    await page.getByLabel('Type of event').selectOption('dubbing.failed');
    await click('Send a sample');
    await expect.poll(() => status(page).innerText()).toBe('dubbing.failed is on its way.');
    await row(page, 'waiting dubbing.failed').click();
    await page.getByLabel('By how much time').selectOption({ label: '6 h' });
    await click('Advance the clock');
    await row(page, 'dead dubbing.failed').waitFor();

    fails = false;
    await click('Redeliver');
    await row(page, 'delivered dubbing.failed').waitFor();
    await page.getByRole('heading', { name: 'Redelivered' }).waitFor();
    await click('Send again, newly signed');
    await expect.poll(() => status(page).innerText()).toMatch(/was sent again: 200/);
    await page.getByRole('list', { name: 'Outside the schedule' }).getByText('sent from this page').waitFor();

    await page.getByLabel('How many requests fail').fill('2');
    await click('Fail the next');
    await page.getByText('2 to go').waitFor();
    await click('Send a sample');
    await page.getByText('1 to go').waitFor();

    await click('Pause');
    await page.getByText('paused', { exact: true }).waitFor();
    expect(emulator.endpoints.list()[0]?.state).toBe('paused');
    await click('Re-enable');
    await page.getByText('active', { exact: true }).waitFor();
  });

  it('an action that fails shows its error', async () => {
    const { page } = await open(
      memorySource({
        send: async () => {
          throw new Error('the port is gone');
        },
      }),
    );
    await page.getByRole('button', { name: 'Send a sample' }).click();
    await expect.poll(() => status(page).innerText()).toBe('the port is gone');
    expect(await page.getByRole('button', { name: /Advance|Fail|Pause/ }).count()).toBe(0);
  });

  it('deliveries are found by state and by any words', async () => {
    const source = memorySource();
    source.put(aRow(1), aRow(2, { type: 'dubbing.failed' }), aRow(3, { state: 'dead', status: 503 }));
    const { page } = await open(source);
    const found = async () => (await deliveries(page).allInnerTexts()).map((text) => /evt_\d/.exec(text)?.[0]);
    await expect.poll(found).toEqual(['evt_3', 'evt_2', 'evt_1']);
    await page.getByLabel('Search deliveries').fill('DUBBING evt');
    await expect.poll(found).toEqual(['evt_2']);
    await page.getByText('1 of 3').waitFor();
    source.put(aRow(4), aRow(5, { type: 'dubbing.completed' }));
    await expect.poll(found).toEqual(['evt_5', 'evt_2']);
    await page.getByLabel('Search deliveries').fill('');
    await page.getByLabel('State', { exact: true }).selectOption('dead');
    await expect.poll(found).toEqual(['evt_3']);
    await page.getByLabel('Search deliveries').fill('nothing like it');
    await page.getByText('No delivery matches the filter.').waitFor();
  });

  describe('10,000 deliveries', () => {
    const many = Array.from({ length: 10_000 }, (_, n) => aRow(n));

    it('only rows in sight are elements, and the keyboard reaches all', async () => {
      const source = memorySource();
      source.put(...many);
      const { page } = await open(source);
      await row(page, 'evt_9999').waitFor();
      expect(await deliveries(page).count()).toBeLessThan(60);
      await page.getByRole('listbox').focus();
      await page.keyboard.press('End');
      await row(page, 'evt_0').first().waitFor();
      expect(await page.locator('[aria-selected=true]').getAttribute('aria-posinset')).toBe('10000');
      expect(await deliveries(page).count()).toBeLessThan(60);
      await page.getByLabel('Search deliveries').fill('evt_4321');
      await expect.poll(() => deliveries(page).count()).toBe(1);
    });

    it('one change draws one row', async () => {
      const source = memorySource();
      source.put(...many);
      const { page } = await open(source);
      await row(page, 'evt_9999').waitFor();
      const touched = await page.evaluateHandle(() => {
        const changed = new Set<string>();
        new MutationObserver((records) => {
          for (const { target } of records) {
            const element = target instanceof Element ? target : target.parentElement;
            changed.add(element?.closest('[role=option]')?.id ?? 'elsewhere');
          }
        }).observe(document.querySelector('[role=listbox]') as Element, {
          subtree: true,
          childList: true,
          characterData: true,
          attributes: true,
        });
        return changed;
      });
      source.put(aRow(9_998, { state: 'dead', status: 500 }), aRow(5, { state: 'dead' }));
      await row(page, 'dead stt.completed evt_9998').waitFor();
      expect(await touched.evaluate((changed) => [...changed])).toEqual(['row-dlv_9998']);
    });

    it('the reader stays in place while rows come on top', async () => {
      const source = memorySource();
      source.put(...many);
      const { page } = await open(source);
      await row(page, 'evt_9999').waitFor();
      const list = page.getByRole('listbox');
      await list.evaluate((element) => {
        element.scrollTop = 34 * 500;
      });
      await row(page, 'evt_9490').waitFor();
      const placeOf = async () => (await row(page, 'evt_9490').boundingBox())?.y;
      const before = await placeOf();
      source.put(...Array.from({ length: 100 }, (_, n) => aRow(10_000 + n)));
      await page.getByText('10,100 deliveries').first().waitFor();
      expect(await placeOf()).toBe(before);
    });
  });

  it('the keyboard alone reaches everything, with a visible focus', async () => {
    const { emulator, source } = await emulated();
    await emulator.emit('stt.completed');
    await emulator.emit('stt.failed');
    await emulator.settled();
    const { page } = await open(source);
    await row(page, 'stt.failed').waitFor();
    const focused = () =>
      page.evaluate(() => {
        const element = document.activeElement as HTMLElement;
        const { outlineStyle, outlineWidth } = getComputedStyle(element);
        const name = element.getAttribute('aria-label') ?? element.textContent ?? '';
        return { name, outline: `${outlineStyle} ${outlineWidth}` };
      });
    const names: string[] = [];
    while (!names.includes('Deliveries, the newest first') && names.length < 20) {
      await page.keyboard.press('Tab');
      const { name, outline } = await focused();
      expect(outline, name).toBe('solid 2px');
      names.push(name);
    }
    expect(names).toEqual([
      'Send a sample',
      'Type of event',
      'Write an event …',
      'Fail the next',
      'How many requests fail',
      'Advance the clock',
      'By how much time',
      expect.stringMatching(/^Pause http/),
      'Search deliveries',
      'State',
      'Type',
      'Time',
      'Redeliver all dead',
      'Clear',
      'Deliveries, the newest first',
    ]);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.getByRole('heading', { name: 'delivered stt.completed' }).waitFor();
    const active = await page.getByRole('listbox').getAttribute('aria-activedescendant');
    expect(await page.locator(`[id="${active}"]`).innerText()).toContain('stt.completed');
    await page.keyboard.press('Enter');
    expect((await focused()).name).toBe('Delivery');
    await page.keyboard.press('Tab');
    expect((await focused()).name).toBe('Copy the event id');
  });
});
