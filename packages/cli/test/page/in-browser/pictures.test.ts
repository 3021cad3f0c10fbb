import { join } from 'node:path';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { chromium } from '../../../../../test/integration/chromium.js';
import { emulated } from '../emulator/emulated.js';
import { choose, useBrowser } from './use-browser.js';

/** Where pictures of the page go, if they are to be made: `SCREENSHOTS=docs`. */
const { SCREENSHOTS } = process.env;

const PHONE = { width: 390, height: 844 };

describe.skipIf(chromium === undefined)('accessibility of the page', () => {
  const { open } = useBrowser();
  const row = (page: Page, text: string) =>
    page.getByRole('listbox').getByRole('option').filter({ hasText: text }).first();

  /** An app that fails some deliveries, behind a network that damages and repeats some. */
  async function aBusyApp() {
    let count = 0;
    const fails = () => ++count % 3 === 0;
    const all = await emulated({ fails, faults: { corrupt: { rate: 0.1 }, duplicate: 0.1 } });
    for (const type of WEBHOOK_EVENT_TYPES) {
      await all.emulator.emit(type);
      await all.emulator.advance(10_000);
    }
    return all.source;
  }

  const scenes: [name: string, viewport: { width: number; height: number }, show: (page: Page) => Promise<void>][] = [
    ['page', { width: 1280, height: 800 }, async (page) => showDelivery(page, 'waiting')],
    ['page-list', { width: 1280, height: 800 }, async (page) => row(page, 'delivered').waitFor()],
    [
      'page-editor',
      { width: 1280, height: 800 },
      async (page) => {
        await choose(page, 'Write an event');
        await page.getByText('The event is valid.').waitFor();
      },
    ],
    [
      'page-menu',
      { width: 1280, height: 800 },
      async (page) => {
        await row(page, 'delivered').waitFor();
        await page.getByRole('button', { name: 'More' }).click();
        await page.getByRole('menu').waitFor();
      },
    ],
    ['page-compare', { width: 1280, height: 800 }, async (page) => showComparison(page)],
    ['page-phone-compare', PHONE, async (page) => showComparison(page)],
    ['page-phone-list', PHONE, async (page) => row(page, 'delivered').waitFor()],
    ['page-phone', PHONE, async (page) => showDelivery(page, 'waiting')],
  ];
  async function showDelivery(page: Page, text: string) {
    await row(page, text).click();
    await page.getByRole('article').waitFor();
  }

  /** Of a delivery with two attempts. */
  async function showComparison(page: Page) {
    await showDelivery(page, '2 attempts');
    await page.getByLabel('Compare with').selectOption({ index: 1 });
    await page.getByRole('article', { name: 'Comparison of two attempts' }).waitFor();
  }

  async function check(page: Page) {
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate(() => (window as unknown as { axe: typeof axe }).axe.run());
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join('\n')}`)).toEqual([]);
  }
  const keep = async (page: Page, name: string) => {
    if (SCREENSHOTS) await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
  };

  describe.each(['light', 'dark'] as const)('%s', (colorScheme) => {
    // What checks the page is put in from outside, past the page's own rules for scripts.
    const options = { colorScheme, bypassCSP: true, timezoneId: 'UTC' };

    it.each(scenes)('axe finds no violation in the scene %s', async (name, viewport, show) => {
      const { page } = await open(await aBusyApp(), { ...options, viewport });
      await show(page);
      await check(page);
      await keep(page, `${name}-${colorScheme}`);
    });

    it('axe finds no violation where a signature does not match', async () => {
      const { source, emulator } = await emulated({ faults: { corrupt: { rate: 1, times: 1 } } });
      await emulator.emit('generation.completed');
      await emulator.settled();
      const { page } = await open(source, options);
      await showDelivery(page, 'waiting');
      await page.getByText('body_changed').waitFor();
      await check(page);
      await keep(page, `page-explain-${colorScheme}`);
    });

    it('axe finds no violation where the list is empty', async () => {
      const { source } = await emulated();
      const { page } = await open(source, options);
      await page.getByText('No deliveries yet.').waitFor();
      await check(page);
      await keep(page, `page-empty-${colorScheme}`);
    });
  });
});
