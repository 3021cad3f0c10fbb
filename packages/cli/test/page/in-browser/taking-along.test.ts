import { buffer } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { createReceiver } from 'service-webhooks';
import { eventJson, readDelivery } from 'service-webhooks/testing';
import { describe, expect, it } from 'vitest';
import { chromium } from '../../../../../test/integration/chromium.js';
import { emulated } from '../emulator/emulated.js';
import { anAttempt, aRow, memorySource } from '../memory-source.js';
import { button, deliveries, useBrowser } from './use-browser.js';

describe.skipIf(chromium === undefined)('copies and downloads of the page', () => {
  const { open } = useBrowser();
  const permissions = ['clipboard-read', 'clipboard-write'];
  const clipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText());
  const said = (page: Page, text: string) => page.getByRole('status').getByText(text).waitFor();

  it('ids, body, command, test and link can be copied', async () => {
    const { emulator, source } = await emulated();
    const { event } = await emulator.emit('generation.completed');
    await emulator.settled();
    const { page, url } = await open(source, { permissions });
    await deliveries(page).click();
    await page.getByRole('article').waitFor();
    const copied = async (name: string, what: string) => {
      await button(page, name).click();
      await said(page, `The ${what} is copied.`);
      return clipboard(page);
    };
    expect(await copied('Copy the event id', 'event id')).toBe(event.id);
    const [delivery] = emulator.deliveries.list();
    expect(await copied('Copy the delivery id', 'delivery id')).toBe(delivery?.id);
    expect(await copied('Copy body', 'body')).toBe(eventJson(event));
    const curl = await copied('Copy as curl', 'command');
    expect(curl).toMatch(/^curl -i -g --url 'http:.+' .*-H 'X-Service-Signature-V2: t=\d+,v1=\w+'/);
    expect(curl).toContain(eventJson(event));
    expect(await copied('Copy as test', 'test')).toContain('test("generation.completed is accepted"');
    expect(await copied('Copy link', 'link')).toBe(`${url}#delivery=${delivery?.id}&attempt=1`);
  });

  it('the downloaded .http file can be read by a test', async () => {
    const { emulator, source, secret } = await emulated();
    await emulator.emit('stt.completed');
    await emulator.settled();
    const { page } = await open(source);
    await deliveries(page).click();
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download .http' }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toMatch(/^\d{8}T\d{6}\.\d{3}Z-00000001\.http$/);
    const delivery = readDelivery(await buffer(await download.createReadStream()));
    const receiver = createReceiver({ secret, on: {}, now: () => delivery.at ?? 0, logger: false });
    expect((await receiver(delivery)).status).toBe(200);
  });

  it('a body that is not shown whole has no copy button', async () => {
    const source = memorySource();
    const { request } = anAttempt(1);
    const bodies = [{ shown: 'hex' as const }, { cut: true }, { text: '', bytes: 0 }];
    for (const [n, changes] of bodies.entries()) {
      source.put(aRow(n));
      const body = { ...request.body, ...changes };
      source.detail(`dlv_${n}`, {}, anAttempt(1, { id: `${n}`, request: { ...request, body } }));
    }
    const { page } = await open(source);
    for (const [n] of bodies.entries()) {
      await page.getByRole('listbox').getByText(`evt_${n}`).click();
      await page.getByRole('heading', { level: 2 }).waitFor();
      await button(page, 'Copy as curl').waitFor();
      expect(await button(page, 'Copy body').count(), String(n)).toBe(0);
    }
  });

  it('a copy that fails says why', async () => {
    const source = memorySource();
    source.put(aRow(1));
    source.detail('dlv_1', {}, anAttempt(1, { id: '1' }));
    const { page } = await open({ ...source, message: () => undefined }, { permissions });
    await deliveries(page).click();
    const message = page.getByRole('status').first();
    await button(page, 'Copy as curl').click();
    await expect
      .poll(() => message.innerText())
      .toBe('The command was not copied: It is not kept any more, or never was.');
    expect(await message.getAttribute('class')).toBe('message failed');
  });
});
