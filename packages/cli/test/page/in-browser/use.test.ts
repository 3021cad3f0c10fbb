import { eventJson } from 'service-webhooks/testing';
import { describe, expect, it } from 'vitest';
import { chromium } from '../../../../../test/integration/chromium.js';
import { emulated } from '../emulator/emulated.js';
import { choose, message, row, section, useBrowser } from './use-browser.js';

describe.skipIf(chromium === undefined)('the page with an emulator', () => {
  const { open } = useBrowser();

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
    expect(await body.inputValue()).toBe(eventJson(event));
    await page.getByRole('button', { name: 'Attempt 1: 401, failed' }).click();
    await page.getByRole('article', { name: 'Attempt 1' }).getByText('body_changed').waitFor();
  });

  it('buttons do what they say, and report it', async () => {
    let fails = true;
    const { source, emulator } = await emulated({ fails: () => fails });
    const { page } = await open(source);
    const click = (name: string) => page.getByRole('button', { name }).click();

    await page.getByLabel('Type of event').selectOption('dubbing.failed');
    await click('Send a sample');
    await expect.poll(() => message(page).innerText()).toBe('dubbing.failed is on its way.');
    await row(page, 'waiting dubbing.failed').click();
    await choose(page, 'Skip time: 6 h');
    await row(page, 'dead dubbing.failed').waitFor();

    fails = false;
    await click('Start its retries again');
    await row(page, 'delivered dubbing.failed').waitFor();
    await page.getByRole('heading', { name: 'Started again' }).waitFor();
    await click('Send again');
    await expect.poll(() => message(page).innerText()).toMatch(/was sent again: 200/);
    await page.getByRole('list', { name: 'Outside the schedule' }).getByText('sent from this page').waitFor();
    await choose(page, 'Send again unchanged', section(page));
    await expect.poll(() => page.getByText('sent from this page').count()).toBe(2);

    await choose(page, /^Let the next requests fail: 2$/);
    await page.getByText('the next 2 requests fail', { exact: true }).waitFor();
    await click('Send a sample');
    await page.getByText('the next 1 request fails', { exact: true }).waitFor();

    await click('Pause');
    await page.getByText('paused', { exact: true }).waitFor();
    expect(emulator.endpoints.list()[0]?.state).toBe('paused');
    await click('Deliver to');
    await page.getByText('active', { exact: true }).waitFor();
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
      'More',
      expect.stringMatching(/^Pause http/),
      'Search deliveries',
      'State',
      'Type',
      'Time',
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
