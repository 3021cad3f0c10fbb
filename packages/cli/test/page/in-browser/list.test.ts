import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { chromium } from '../../../../../test/integration/chromium.js';
import { aRow, memorySource } from '../memory-source.js';
import { deliveries, row, useBrowser } from './use-browser.js';

/** As in the style sheet. */
const ROW_PX = 48;

describe.skipIf(chromium === undefined)('the list of the page', () => {
  const { open } = useBrowser();
  const list = (page: Page) => page.getByRole('listbox');
  /** The place of the selected one in the list, from 1 on. */
  const selected = async (page: Page) => {
    const chosen = list(page).locator('[aria-selected=true]');
    return (await chosen.count()) === 0 ? undefined : Number(await chosen.getAttribute('aria-posinset'));
  };
  /** The places of those that are whole in sight. */
  const inSight = (page: Page) =>
    list(page).evaluate((box) => {
      const { top, bottom } = box.getBoundingClientRect();
      return [...box.querySelectorAll('[role=option]')]
        .filter((row) => row.getBoundingClientRect().top >= top && row.getBoundingClientRect().bottom <= bottom)
        .map((row) => Number(row.getAttribute('aria-posinset')))
        .sort((a, b) => a - b);
    });
  const scrollTo = (page: Page, place: number) =>
    list(page).evaluate(
      (box, top) => {
        box.scrollTop = top;
      },
      (place - 1) * ROW_PX,
    );

  async function openWith(count: number) {
    const source = memorySource();
    source.put(...Array.from({ length: count }, (_, n) => aRow(n)));
    const opened = await open(source, { timezoneId: 'UTC' });
    if (count > 0) await deliveries(opened.page).first().waitFor();
    return { ...opened, source };
  }

  it('a row has the state, the type, the attempts, the answer and the time', async () => {
    const source = memorySource();
    source.put(
      aRow(1, { state: 'waiting', status: undefined, problem: 'timeout', redeliveries: 1 }),
      aRow(2, { state: 'dead', status: 503, attempts: 6, test: true, cause: 'the app failed' }),
      aRow(3, { duplicates: 1 }),
    );
    const { page } = await open(source, { timezoneId: 'UTC' });
    await deliveries(page).first().waitFor();
    const texts = (await deliveries(page).allInnerTexts()).map((text) => text.split(/\s*\n\s*/));
    expect(texts).toEqual([
      ['delivered', 'stt.completed', 'duplicate', 'evt_3', '1 attempt', '200', '12:00:00Z'],
      ['dead', 'stt.completed', 'evt_2', '6 attempts, test', '503 · the app failed', '12:00:00Z'],
      ['waiting', 'stt.completed', 'evt_1', '1 attempt, started again', 'timeout', '12:00:00Z'],
    ]);
    const first = deliveries(page).nth(1);
    expect(await first.locator('time').getAttribute('datetime')).toBe('2026-07-11T12:00:00.002Z');
    expect(await first.locator('.mark').getAttribute('class')).toBe('mark dead');
    expect(await first.textContent()).toBe('dead stt.completed evt_2 6 attempts, test 503 · the app failed 12:00:00Z'); // as it is read out
    expect([await first.getAttribute('aria-posinset'), await first.getAttribute('aria-setsize')]).toEqual(['2', '3']);
  });

  it('an empty list says so, and an unmatched filter too', async () => {
    const { page, source } = await openWith(0);
    await page.getByText('No deliveries yet.').waitFor();
    await page.getByText('Start with:').waitFor();
    expect(await page.locator('.command code').innerText()).toBe('npx service-webhooks-cli dev 3000');
    expect(await page.locator('.filter .note').innerText()).toBe('0 deliveries');
    source.put(aRow(1));
    await deliveries(page).first().waitFor();
    expect(await page.getByText('No deliveries yet.').count()).toBe(0);
    expect(await page.getByText('No delivery matches').count()).toBe(0);
    expect(await page.locator('.filter .note').innerText()).toBe('1 delivery');
    await page.getByLabel('State', { exact: true }).selectOption({ label: 'dead' });
    await expect.poll(() => list(page).innerText()).toBe('No delivery matches the filter.');
    expect(await page.locator('.filter .note').innerText()).toBe('0 of 1');
    await page.getByLabel('State', { exact: true }).selectOption({ label: 'every state' });
    await deliveries(page).first().waitFor();
  });

  it('arrow keys move the selection as far as the list goes', async () => {
    const { page } = await openWith(3);
    await list(page).focus();
    expect(await selected(page)).toBeUndefined();
    expect(await list(page).getAttribute('aria-activedescendant')).toBeNull();
    const walked: unknown[] = [];
    for (const key of ['ArrowUp', 'ArrowUp', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowUp', 'Home', 'End', 'x']) {
      await page.keyboard.press(key);
      walked.push(await selected(page));
    }
    expect(walked).toEqual([1, 1, 2, 3, 3, 2, 1, 3, 3]);
    expect(await list(page).getAttribute('aria-activedescendant')).toBe('row-dlv_0');
  });

  it('all rows together are one stop of the Tab key', async () => {
    const { page } = await openWith(3);
    const stops: unknown[] = [];
    for (let n = 0; n < 6; n++) {
      await page.keyboard.press('Tab');
      stops.push(await page.evaluate(() => document.activeElement?.getAttribute('role')));
    }
    expect(stops.filter((role) => role === 'listbox')).toHaveLength(1);
    expect(stops).not.toContain('option');
  });

  it('keys on an empty list do nothing, and work once a delivery is there', async () => {
    const { page, source } = await openWith(0);
    await list(page).focus();
    for (const key of ['ArrowDown', 'End', 'Enter']) await page.keyboard.press(key);
    expect(await selected(page)).toBeUndefined();
    source.put(aRow(1));
    await deliveries(page).first().waitFor();
    await list(page).focus();
    await page.keyboard.press('ArrowDown');
    expect(await selected(page)).toBe(1);
  });

  it('a selection out of sight scrolls no more than it must', async () => {
    const { page } = await openWith(100);
    await list(page).focus();
    const fits = (await inSight(page)).length;
    const top = () => list(page).evaluate((box) => box.scrollTop);
    for (let n = 0; n < fits; n++) await page.keyboard.press('ArrowDown');
    expect(await top()).toBe(0);
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => inSight(page)).toContain(fits + 1);
    expect(await top()).toBeLessThan(2 * ROW_PX);
    const before = await top();
    await page.keyboard.press('ArrowUp');
    expect(await top()).toBe(before);
    await scrollTo(page, 60);
    await expect.poll(() => inSight(page)).toContain(61);
    await page.keyboard.press('ArrowUp');
    await expect.poll(() => inSight(page)).toContain(fits - 1);
    expect((await inSight(page))[0]).toBe(fits - 1);
  });

  it('Page Down and Page Up move by what is in sight', async () => {
    const { page } = await openWith(100);
    await list(page).focus();
    const fits = (await inSight(page)).length;
    await page.keyboard.press('Home');
    await page.keyboard.press('PageDown');
    const step = ((await selected(page)) ?? 0) - 1;
    expect([fits - 1, fits]).toContain(step);
    await page.keyboard.press('PageDown');
    expect(await selected(page)).toBe(1 + 2 * step);
    await expect.poll(() => inSight(page)).toContain(1 + 2 * step);
    await page.keyboard.press('PageUp');
    expect(await selected(page)).toBe(1 + step);
  });

  it('unused keys are left to the browser', async () => {
    const { page } = await openWith(3);
    await list(page).focus();
    const taken = () =>
      page.evaluate(
        () =>
          new Promise<boolean>((resolve) =>
            addEventListener('keydown', ({ defaultPrevented }) => resolve(defaultPrevented), { once: true }),
          ),
      );
    const pressed = async (key: string) => {
      const answer = taken();
      await page.evaluate(() => undefined); // it listens by now
      await page.keyboard.press(key);
      return answer;
    };
    expect(await pressed('ArrowDown')).toBe(true);
    expect(await pressed('x')).toBe(false);
    expect(await pressed('Enter')).toBe(false);
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('delivery');
  });

  it('a click on a row selects it and focuses the list', async () => {
    const { page } = await openWith(3);
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('role'));
    await deliveries(page).nth(1).click();
    expect([await selected(page), await focused()]).toEqual([2, 'listbox']);
    await page.getByLabel('Search deliveries').focus();
    await list(page).click({ position: { x: 50, y: 10 * ROW_PX } });
    expect([await selected(page), await focused()]).toEqual([2, 'listbox']);
  });

  it('rows in sight are drawn, at any scroll position and height', async () => {
    const { page } = await openWith(10_000);
    const whole = async (first: number, height: number) => {
      const fits = Math.floor(height / ROW_PX) - 1;
      await expect.poll(() => inSight(page)).toEqual(expect.arrayContaining([first, first + fits - 1]));
      expect(await deliveries(page).count()).toBeLessThan(fits + 25);
    };
    const height = () => list(page).evaluate((box) => box.clientHeight);
    await whole(1, await height());
    await scrollTo(page, 500);
    await whole(500, await height());
    await page.setViewportSize({ width: 1280, height: 1600 });
    await whole(500, await height());
    await page.setViewportSize({ width: 1280, height: 500 });
    await expect.poll(() => deliveries(page).count()).toBeLessThan(35);
    await whole(500, await height());
    await scrollTo(page, 10_000);
    await expect.poll(() => inSight(page)).toContain(10_000);
  });

  it('the selected row stays in the document when it is scrolled away', async () => {
    const { page } = await openWith(1_000);
    await deliveries(page).nth(2).click();
    await scrollTo(page, 500);
    await expect.poll(() => inSight(page)).toContain(501);
    expect(await selected(page)).toBe(3);
    expect(await list(page).locator('[id=row-dlv_997]').count()).toBe(1);
    await scrollTo(page, 1);
    await expect.poll(() => inSight(page)).toContain(3);
    expect(await list(page).locator('[id=row-dlv_997]').count()).toBe(1);
    await list(page).focus();
    await page.keyboard.press('End');
    await scrollTo(page, 1);
    await expect.poll(() => inSight(page)).toContain(1);
    expect(await selected(page)).toBe(1_000);
  });

  it('new rows show at the top, and a reader further down keeps the place', async () => {
    const { page, source } = await openWith(100);
    source.put(aRow(100));
    await expect.poll(() => deliveries(page).first().innerText()).toContain('evt_100');
    expect(await list(page).evaluate((box) => box.scrollTop)).toBe(0);
    await scrollTo(page, 51);
    const first = async () => (await inSight(page))[0];
    await expect.poll(first).toBe(51);
    const reading = row(page, /evt_50 /);
    const before = await reading.boundingBox();
    source.put(...Array.from({ length: 100 }, (_, n) => aRow(101 + n)));
    await expect.poll(first).toBe(151);
    source.remove('dlv_200');
    await expect.poll(first).toBe(150);
    source.remove('dlv_49');
    await page.getByText('199 deliveries').first().waitFor();
    expect(await reading.boundingBox()).toEqual(before);
  });

  it('one change of 10,000 rows draws one row', async () => {
    const { page, source } = await openWith(10_000);
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

  it('failed deliveries with different causes look different', async () => {
    const source = memorySource();
    const causes = ['the app parses the body first', 'another secret', undefined];
    source.put(...causes.map((cause, n) => aRow(n, { state: 'failed', status: 401, cause })));
    source.put(
      aRow(3, { state: 'failed', status: undefined, problem: 'fetch failed', cause: 'nothing listens there' }),
    );
    const { page } = await open(source);
    await deliveries(page).first().waitFor();
    expect(await page.locator('.answer').allInnerTexts()).toEqual([
      'nothing listens there',
      '401',
      '401 · another secret',
      '401 · the app parses the body first',
    ]);
  });

  it('a filter shows what failed at least once, also where it was delivered later', async () => {
    const source = memorySource();
    source.put(aRow(1, { hasFailed: true }), aRow(2), aRow(3, { state: 'dead', hasFailed: true }));
    const { page } = await open(source);
    await page.getByLabel('State', { exact: true }).selectOption('failed at least once');
    await expect.poll(() => deliveries(page).count()).toBe(2);
    expect(await page.evaluate(() => location.hash)).toBe('#state=has-failed');
  });

  it('a list that is cut says of how many it has the newest', async () => {
    const { page, source } = await openWith(1_000);
    source.oversee({ total: 10_000 });
    const note = page.locator('.filter .note');
    await expect.poll(() => note.innerText()).toBe('the newest 1,000 of 10,000');
    await page.getByLabel('State', { exact: true }).selectOption('dead');
    await expect.poll(() => note.innerText()).toBe('0 in the newest 1,000 of 10,000');
  });

  it('the note says how many of how many match the filter', async () => {
    const source = memorySource();
    source.put(...Array.from({ length: 2_500 }, (_, n) => aRow(n, n < 1_500 ? { state: 'dead' } : {})));
    const { page } = await open(source);
    const note = page.locator('.filter .note');
    await expect.poll(() => note.innerText()).toBe('2,500 deliveries');
    await page.getByLabel('State', { exact: true }).selectOption('dead');
    await expect.poll(() => note.innerText()).toBe('1,500 of 2,500');
    expect(await page.getByLabel('State', { exact: true }).locator('option').allInnerTexts()).toEqual([
      'every state',
      'sending',
      'waiting',
      'delivered',
      'failed',
      'dead',
      'lost',
      'failed at least once',
    ]);
    expect(await page.getByLabel('State', { exact: true }).inputValue()).toBe('dead');
  });
});
