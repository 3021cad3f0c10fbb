import type { Page } from 'playwright-core';
import { WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { chromium } from '../../../../../test/integration/chromium.js';
import type { Actions, EndpointRow } from '../../../src/page/page-source.js';
import { anAttempt, aRow, memorySource } from '../memory-source.js';
import { served } from '../served.js';
import { button, choose, message, NOON, section, useBrowser } from './use-browser.js';

describe.skipIf(chromium === undefined)('the controls of the page', () => {
  const { open, newWindow, assets } = useBrowser();
  const heading = (page: Page) => page.locator('.heading');

  /** Actions that keep what they were asked for. */
  function asked(...names: (keyof Actions)[]) {
    const inputs: unknown[] = [];
    const ask = async (input: unknown) => `It was asked for ${inputs.push(input)}.`;
    return { inputs, actions: Object.fromEntries(names.map((name) => [name, ask])) as Actions };
  }
  const endpoint = (n: number, changes: Partial<EndpointRow> = {}): EndpointRow => ({
    ...{ id: `wh_${n}`, url: `http://127.0.0.1:3000/${n}`, state: 'active', deadInARow: 3, pausesAfter: 20 },
    ...changes,
  });

  it('a sample of any type can be sent', async () => {
    const { inputs, actions } = asked('send');
    const { page } = await open(memorySource(actions));
    const type = page.getByLabel('Type of event');
    expect(await type.locator('option').allInnerTexts()).toEqual([...WEBHOOK_EVENT_TYPES]);
    await button(page, 'Send a sample').click();
    await page.getByText('It was asked for 1.').waitFor();
    await type.selectOption('stt.failed');
    await button(page, 'Send a sample').click();
    await page.getByText('It was asked for 2.').waitFor();
    expect(inputs).toEqual([{ type: WEBHOOK_EVENT_TYPES[0] }, { type: 'stt.failed' }]);
    expect(await page.locator('header').getByRole('button').allInnerTexts()).toEqual(['Send a sample']);
  });

  it('the next requests can be made to fail, and are counted down', async () => {
    const { inputs, actions } = asked('failNext');
    const source = memorySource(actions);
    const { page } = await open(source);
    for (const [at, count] of [1, 2, 3, 6, 20, 100].entries()) {
      await choose(page, new RegExp(`^Let the next requests fail: ${count}$`));
      if (count === 1) expect(await page.getByText('the next').count()).toBe(0);
      await page.getByText(`It was asked for ${at + 1}.`).waitFor();
    }
    expect(inputs).toEqual([1, 2, 3, 6, 20, 100].map((count) => ({ count })));
    source.oversee({ failing: 12 });
    await page.getByText('the next 12 requests fail').waitFor();
    source.oversee({ failing: 1 });
    await page.getByText('the next 1 request fails').waitFor();
    source.oversee({ failing: 0 });
    await page.getByText('the next').waitFor({ state: 'detached' });
  });

  it('time can be skipped by the waits of the schedule', async () => {
    const { inputs, actions } = asked('advance');
    const { page } = await open(memorySource(actions));
    for (const [at, label] of ['30 s', '2 min', '10 min', '1 h', '4 h', '6 h'].entries()) {
      await choose(page, `Skip time: ${label}`);
      await page.getByText(`It was asked for ${at + 1}.`).waitFor();
    }
    expect(inputs).toEqual([30, 120, 600, 3_600, 14_400, 21_600].map((seconds) => ({ ms: seconds * 1_000 })));
  });

  describe('the menu', () => {
    const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent);
    async function openMenu() {
      const { inputs, actions } = asked('emit', 'clear', 'advance');
      const source = memorySource(actions);
      source.put(aRow(1), aRow(2));
      const { page } = await open(source);
      const opener = page.getByRole('button', { name: 'More' });
      await opener.focus();
      await page.keyboard.press('ArrowDown');
      await page.getByRole('menu').waitFor();
      return { page, opener, inputs, menu: page.getByRole('menu') };
    }

    it('arrow keys go through the items, and Enter chooses one', async () => {
      const { page, opener, inputs, menu } = await openMenu();
      expect(await opener.getAttribute('aria-expanded')).toBe('true');
      const walked: unknown[] = [];
      for (const key of ['ArrowDown', 'ArrowRight', 'Home', 'ArrowUp', 'ArrowDown', 'End', 'ArrowLeft']) {
        await page.keyboard.press(key);
        walked.push((await focused(page))?.slice(0, 5));
      }
      expect(walked).toEqual(['Clear', '30 s', 'Write', '6 h', 'Write', '6 h', '4 h']);
      await page.keyboard.press('j');
      await page.keyboard.press('Enter');
      await expect.poll(() => message(page).innerText()).toBe('It was asked for 1.');
      expect(inputs).toEqual([{ ms: 14_400_000 }]);
      expect(await menu.count()).toBe(0);
      expect(await focused(page)).toBe('More');
      expect(await page.locator('[aria-selected=true]').count()).toBe(0);
    });

    it('Escape, Tab and a click elsewhere close it', async () => {
      const { page, opener, menu } = await openMenu();
      await page.keyboard.press('Escape');
      await menu.waitFor({ state: 'detached' });
      expect(await focused(page)).toBe('More');
      expect(await opener.getAttribute('aria-expanded')).toBe('false');
      await opener.click();
      await page.keyboard.press('Tab');
      await menu.waitFor({ state: 'detached' });
      await opener.click();
      await page.getByRole('heading', { level: 1 }).click();
      await menu.waitFor({ state: 'detached' });
      await opener.click();
      await opener.click();
      await menu.waitFor({ state: 'detached' });
    });

    it('it stays open while the list moves, and closes when its button does', async () => {
      const { actions } = asked('clear', 'replay', 'redeliver');
      const source = memorySource(actions);
      source.put(...Array.from({ length: 100 }, (_, n) => aRow(n)));
      source.detail('dlv_99', { offers: ['replay'] }, anAttempt(1));
      const { page } = await open(source, { viewport: { width: 1280, height: 400 } });
      await page.locator('.row').first().click();
      await page.getByRole('article').waitFor();
      const menu = page.getByRole('menu');
      await section(page).getByRole('button', { name: 'More' }).click();
      const scroll = (selector: string) =>
        page.locator(selector).evaluate(async (box) => {
          const scrolled = new Promise((resolve) => box.addEventListener('scroll', resolve, { once: true }));
          box.scrollTop = 20;
          await scrolled;
        });
      await scroll('[role=listbox]');
      expect(await menu.isVisible()).toBe(true);
      await scroll('#delivery');
      await menu.waitFor({ state: 'detached' });
    });

    it('it stays within the window', async () => {
      const { page, menu } = await openMenu();
      await page.keyboard.press('Escape');
      await page.setViewportSize({ width: 390, height: 300 });
      await page.getByRole('button', { name: 'More' }).click();
      const box = await menu.boundingBox();
      expect(box?.x).toBeGreaterThanOrEqual(0);
      expect(box?.y).toBeGreaterThanOrEqual(0);
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390);
      expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(300);
    });
  });

  it('a second click orders nothing while the first is under way', async () => {
    let orders = 0;
    let done = () => {};
    const send = () => {
      orders += 1;
      return new Promise<string>((resolve) => {
        done = () => resolve(`Order ${orders} is done.`);
      });
    };
    const { page } = await open(memorySource({ send }));
    const order = button(page, 'Send a sample');
    expect(await order.getAttribute('aria-disabled')).toBe('false');
    await order.click();
    await expect.poll(() => order.getAttribute('aria-disabled')).toBe('true');
    await order.click({ force: true });
    await expect.poll(() => orders).toBe(1);
    done();
    await page.getByText('Order 1 is done.').waitFor();
    await expect.poll(() => order.getAttribute('aria-disabled')).toBe('false');
    await order.click();
    await expect.poll(() => orders).toBe(2);
    done();
    await page.getByText('Order 2 is done.').waitFor();
  });

  it('a source without actions has no buttons', async () => {
    const source = memorySource();
    source.put(aRow(1));
    source.oversee({ endpoints: [endpoint(1), endpoint(2, { state: 'paused' })] });
    const { page } = await open(source);
    await page.getByRole('list', { name: 'Endpoints' }).waitFor();
    expect(await page.getByRole('button').count()).toBe(0);
  });

  it('each endpoint has its state, and can be paused and enabled', async () => {
    const { inputs, actions } = asked('pause', 'enable');
    const source = memorySource(actions);
    source.oversee({ endpoints: [endpoint(1), endpoint(2, { state: 'paused', deadInARow: 20 })] });
    const { page } = await open(source);
    const items = page.getByRole('list', { name: 'Endpoints' }).getByRole('listitem');
    const texts = async () => (await items.allInnerTexts()).map((text) => text.split(/\s*\n\s*/));
    expect(await texts()).toEqual([
      ['active', 'http://127.0.0.1:3000/1', '3 dead in a row; 20 pause it', 'Pause'],
      ['paused', 'http://127.0.0.1:3000/2', '20 dead in a row; 20 pause it', 'Deliver again'],
    ]);
    expect(await items.first().locator('.mark').getAttribute('class')).toBe('mark active');
    await button(page, 'Pause http://127.0.0.1:3000/1').click();
    await page.getByText('It was asked for 1.').waitFor();
    await button(page, 'Deliver to http://127.0.0.1:3000/2 again').click();
    await page.getByText('It was asked for 2.').waitFor();
    expect(inputs).toEqual([{ endpoint: 'wh_1' }, { endpoint: 'wh_2' }]);
    source.oversee({ endpoints: [] });
    await page.getByRole('list', { name: 'Endpoints' }).waitFor({ state: 'detached' });
  });

  it('a hundred endpoints leave the deliveries in sight', async () => {
    const source = memorySource(asked('pause').actions);
    source.put(aRow(1));
    source.oversee({ endpoints: Array.from({ length: 100 }, (_, n) => endpoint(n)) });
    const { page } = await open(source);
    const list = await page.getByRole('listbox').boundingBox();
    expect(list?.height).toBeGreaterThan(200);
    expect((list?.y ?? 0) + (list?.height ?? 0)).toBeLessThan(800);
    await page.getByRole('option').filter({ hasText: 'evt_1' }).click();
    await button(page, 'Pause http://127.0.0.1:3000/99').click();
    await page.getByText('It was asked for 1.').waitFor();
  });

  describe('the clock', () => {
    it('a clock at speed 0 stands, and says so', async () => {
      const source = memorySource();
      const { page } = await open(source, { timezoneId: 'UTC' });
      expect(await heading(page).getByRole('heading').innerText()).toBe('Deliveries of a test');
      const clock = page.locator('.clock');
      expect(await clock.innerText()).toBe('2026-07-11 12:00:00Z · the clock stands: More, Skip time');
      expect(await clock.locator('time').getAttribute('datetime')).toBe('2026-07-11T12:00:00.000Z');
      source.oversee({ now: NOON + 3_600_000 });
      await clock.getByText('2026-07-11 13:00:00Z').waitFor();
    });

    it.each([
      [1, ''],
      [60, ' · waits pass 60 times faster'],
    ])('a clock at speed %i runs each second', async (speed, said) => {
      const source = memorySource();
      source.oversee({ speed });
      const { url } = await served(source, assets());
      const page = await newWindow({ timezoneId: 'UTC' });
      await page.clock.install({ time: NOON });
      await page.goto(url);
      await page.locator('.connection.open').waitFor();
      await page.clock.pauseAt(NOON + 60_000);
      const clock = page.locator('.clock');
      const shown = async () => Date.parse((await clock.locator('time').getAttribute('datetime')) ?? '');
      await page.clock.runFor(2_000);
      const before = await shown();
      expect(await clock.innerText()).toMatch(new RegExp(`:\\d\\dZ${said}$`));
      for (const seconds of [1, 2, 3]) {
        await page.clock.runFor(1_000);
        expect(await shown()).toBe(before + seconds * 1_000);
      }
      source.oversee({ speed: 0, now: NOON });
      await clock.getByText('the clock stands').waitFor();
      await page.clock.runFor(5_000);
      expect(await shown()).toBe(NOON);
    });
  });

  it('the title is shown while the page connects', async () => {
    const { url } = await served(memorySource(), assets());
    const page = await newWindow();
    await page.route('**/page/stream', () => {}); // nobody answers for now
    await page.goto(url);
    await heading(page).getByText('connecting').waitFor();
    expect(await page.locator('.connection').getAttribute('class')).toBe('connection opening');
    expect(await heading(page).getByRole('heading').innerText()).toBe('Deliveries of a test');
  });
});
