import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { chromium } from '../../../../../test/integration/chromium.js';
import { anAttempt, aRow, memorySource } from '../memory-source.js';
import { deliveries, NOON, useBrowser } from './use-browser.js';

describe.skipIf(chromium === undefined)('the search of the page', () => {
  const { open } = useBrowser();
  const input = (page: Page) => page.getByLabel('Search deliveries');
  const note = (page: Page) => page.locator('.filter .note');
  const found = async (page: Page) => (await deliveries(page).allInnerTexts()).map((text) => /evt_\d/.exec(text)?.[0]);

  /** The nth attempt, with this text in its body. */
  function attemptWith(n: number, text: string) {
    const { request } = anAttempt(n);
    return anAttempt(n, { request: { ...request, body: { ...request.body, text } } });
  }
  function aSource() {
    const source = memorySource();
    source.put(aRow(1), aRow(2), aRow(3, { type: 'dubbing.failed' }));
    source.detail('dlv_1', {}, attemptWith(1, '{"speaker":"Ada"}'), anAttempt(2));
    source.detail('dlv_2', {}, attemptWith(3, '{"speaker":"Grace"}'));
    return source;
  }

  it('a word in the body of an earlier attempt finds the delivery', async () => {
    const { page } = await open(aSource());
    await input(page).fill('speaker ada');
    await expect.poll(() => found(page)).toEqual(['evt_1']);
    await expect.poll(() => note(page).innerText()).toBe('1 of 3');
    await input(page).fill('speaker');
    await expect.poll(() => found(page)).toEqual(['evt_2', 'evt_1']);
    await input(page).fill('nothing like it');
    await page.getByText('No delivery matches the filter.').waitFor();
    await input(page).fill('');
    await expect.poll(() => found(page)).toEqual(['evt_3', 'evt_2', 'evt_1']);
  });

  it('a new delivery is found by its body without typing again', async () => {
    const source = aSource();
    const { page } = await open(source);
    await input(page).fill('grace');
    await expect.poll(() => found(page)).toEqual(['evt_2']);
    source.detail('dlv_4', {}, attemptWith(4, '{"speaker":"Grace"}'));
    source.put(aRow(4));
    await expect.poll(() => found(page)).toEqual(['evt_4', 'evt_2']);
  });

  it('the result of an earlier query does not replace that of a later one', async () => {
    const { page } = await open(aSource());
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/page/search/ada', async (route) => {
      await released;
      await route.fulfill({ json: { ids: ['dlv_1', 'dlv_2', 'dlv_3'] } }).catch(() => {});
    });
    const asked = page.waitForRequest(/search\/ada$/);
    await input(page).fill('ada');
    await asked;
    await expect.poll(() => note(page).innerText()).toBe('searching …');
    await input(page).fill('grace');
    await expect.poll(() => found(page)).toEqual(['evt_2']);
    release();
    await input(page).fill('dubbing');
    await expect.poll(() => found(page)).toEqual(['evt_3']);
  });

  it('what the rows show is found at once, and also when the server cannot search', async () => {
    const { page } = await open(aSource());
    await page.route('**/page/search/*', (route) =>
      route.fulfill({ status: 503, json: { error: 'Too many searches.' } }),
    );
    await input(page).fill('dubbing');
    await expect.poll(() => found(page)).toEqual(['evt_3']);
    await expect.poll(() => note(page).innerText()).toBe('1 of 3');
  });

  it('typing searches once, where it stops', async () => {
    const { page } = await open(aSource());
    const asked: string[] = [];
    page.on('request', (request) => {
      const [, query] = /\/page\/search\/(.+)/.exec(request.url()) ?? [];
      if (query !== undefined) asked.push(decodeURIComponent(query));
    });
    await page.clock.install({ time: NOON });
    await page.clock.pauseAt(NOON + 60_000);
    await input(page).pressSequentially('ada');
    await page.clock.runFor(1_000);
    await expect.poll(() => found(page)).toEqual(['evt_1']);
    expect(asked).toEqual(['ada']);
  });
});
