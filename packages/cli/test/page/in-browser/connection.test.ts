import { once } from 'node:events';
import { createServer, get, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { chromium } from '../../../../../test/integration/chromium.js';
import type { PageSource } from '../../../src/page/page-source.js';
import { createPage } from '../../../src/page/server/page-server.js';
import { anAttempt, aRow, memorySource } from '../memory-source.js';
import { deliveries, message, NOON, useBrowser } from './use-browser.js';

describe.skipIf(chromium === undefined)('the connection of the page', () => {
  const { newWindow, assets } = useBrowser();
  const connection = (page: Page) => page.locator('.connection');
  const send = (page: Page) => page.getByRole('button', { name: 'Send a sample' }).click();

  /** A program on a port, that can go away and come back. */
  async function program(source: PageSource) {
    let port = 0;
    let server: Server;
    async function start(run = createPage(source, assets())) {
      server = createServer((req, res) => run.handle(req, res));
      await once(server.listen(port, '127.0.0.1'), 'listening');
      port = (server.address() as AddressInfo).port;
      return run;
    }
    async function stop() {
      const closed = once(server.close(), 'close');
      server.closeAllConnections();
      await closed;
    }
    const run = await start();
    onTestFinished(async () => {
      run.close();
      if (server.listening) await stop();
    });
    const url = `http://127.0.0.1:${port}/`;
    /** A window of it whose clock is in the test's hand. */
    const look = async () => {
      const page = await newWindow({ timezoneId: 'UTC' });
      await page.clock.install({ time: NOON });
      await page.goto(url);
      return page;
    };
    return { url, look, stop, comeBack: () => start(run), startAnew: () => start() };
  }

  it('a lost connection comes back, and the page stays as it was', async () => {
    const source = memorySource();
    source.put(aRow(1), ...[2, 3].map((n) => aRow(n, { type: 'dubbing.failed' })));
    const { look, stop, comeBack } = await program(source);
    const page = await look();
    const streams: string[] = [];
    page.on('request', (request) => request.url().endsWith('/page/stream') && streams.push(request.url()));
    await page.getByLabel('Search deliveries').fill('dubbing');
    await deliveries(page).getByText('evt_2').click();
    await page.getByRole('heading', { name: 'dubbing.failed' }).waitFor();
    await stop();
    await page.locator('.connection.lost').waitFor();
    expect(await connection(page).innerText()).toContain('connection lost, trying again');
    expect(await page.getByRole('status').nth(1).innerText()).toBe('Connection lost, trying again.');
    source.remove('dlv_3');
    source.put(aRow(4, { type: 'dubbing.failed' }));
    await comeBack();
    await deliveries(page).getByText('evt_4').waitFor();
    expect(await connection(page).innerText()).toContain('live');
    expect(await deliveries(page).count()).toBe(2);
    expect(await page.getByRole('heading', { level: 2 }).count()).toBe(1);
    const before = streams.length;
    await page.clock.fastForward(10_000);
    await page.evaluate(() => document.title);
    expect(streams.length).toBe(before);
  });

  it('another run of the program is loaded, and its buttons work', async () => {
    const source = memorySource({ send: async ({ type }) => `${type} was sent.` });
    const { look, stop, startAnew } = await program(source);
    const page = await look();
    await page.locator('.connection.open').waitFor();
    await stop();
    await page.locator('.connection.lost').waitFor();
    const loaded = page.waitForEvent('load');
    await startAnew();
    await loaded;
    await page.locator('.connection.open').waitFor();
    await send(page);
    await expect.poll(() => message(page).innerText()).toBe('generation.completed was sent.');
  });

  it('a page beyond the limit connects as soon as there is room', async () => {
    const { url, look } = await program(memorySource());
    const others = await Promise.all(
      Array.from({ length: 64 }, async () => {
        const request = get(`${url}page/stream`);
        request.on('error', () => {});
        await once(request, 'response');
        return request;
      }),
    );
    const page = await look();
    await page.locator('.connection.lost').waitFor();
    for (const other of others) other.destroy();
    await page.clock.fastForward(2_000);
    await page.locator('.connection.open').waitFor();
  });

  it('controls are disabled while the connection is lost, say why, and work when it is back', async () => {
    const source = memorySource({
      send: async () => 'It was sent.',
      replay: async () => 'Again.',
      clear: async () => '',
    });
    source.put(aRow(1));
    source.detail('dlv_1', { offers: ['replay'] }, anAttempt(1));
    const { look, stop, comeBack } = await program(source);
    const page = await look();
    await deliveries(page).first().click();
    const buttons = ['Send a sample', 'Send again'].map((name) => page.getByRole('button', { name, exact: true }));
    const disabled = () => Promise.all(buttons.map((button) => button.getAttribute('aria-disabled')));
    await expect.poll(disabled).toEqual(['false', 'false']);
    await stop();
    await expect.poll(disabled).toEqual(['true', 'true']);
    const lost = 'The program on this machine does not answer. Is it still running?';
    expect(await buttons[0]?.getAttribute('title')).toBe(lost);
    await buttons[0]?.click({ force: true });
    await expect.poll(() => message(page).innerText()).toBe(lost);
    expect(await message(page).getAttribute('class')).toBe('message failed');
    await page.locator('header').getByRole('button', { name: 'More' }).click();
    const item = page.getByRole('menuitem', { name: 'Clear the list' });
    expect(await item.getAttribute('aria-disabled')).toBe('true');
    expect(await item.innerText()).toContain(lost);
    await page.keyboard.press('Escape');
    await comeBack();
    await expect.poll(disabled).toEqual(['false', 'false']);
    await send(page);
    await expect.poll(() => message(page).innerText()).toBe('It was sent.');
    expect(await message(page).getAttribute('class')).toBe('message');
  });

  it('an action that the server does not answer fails with a message', async () => {
    const { look } = await program(memorySource({ send: async () => 'It was sent.' }));
    const page = await look();
    await page.route('**/page/actions/send', (route) => route.abort());
    await send(page);
    const lost = 'The program on this machine does not answer. Is it still running?';
    await expect.poll(() => message(page).innerText()).toBe(lost);
    expect(await message(page).getAttribute('class')).toBe('message failed');
  });

  it.each<[string, (page: Page) => Promise<void>, string]>([
    ['a delivery', (page) => deliveries(page).getByText('evt_2').click(), 'Attempt 3'],
    ['an attempt', (page) => page.getByRole('button', { name: 'Attempt 1: 200' }).click(), 'Attempt 1'],
  ])('%s that is selected without a connection is shown when it is back', async (_, pick, name) => {
    const source = memorySource();
    source.put(aRow(1, { attempts: 2 }), aRow(2));
    source.detail('dlv_1', {}, anAttempt(1), anAttempt(2));
    source.detail('dlv_2', {}, anAttempt(3));
    const { look, stop, comeBack } = await program(source);
    const page = await look();
    await deliveries(page).getByText('evt_1').click();
    await page.getByRole('article', { name: 'Attempt 2' }).waitFor();
    await stop();
    await page.locator('.connection.lost').waitFor();
    await page.getByRole('article', { name: 'Attempt 2' }).waitFor();
    await pick(page);
    await page.getByRole('article').waitFor({ state: 'detached' });
    await page.clock.runFor(1_000);
    expect(await page.getByText('no longer kept').count()).toBe(0);
    await comeBack();
    await page.getByRole('article', { name }).waitFor();
  });

  it('arrow keys ask for the delivery where they stop, and for no other', async () => {
    const source = memorySource();
    source.put(...Array.from({ length: 20 }, (_, n) => aRow(n)));
    const { look } = await program(source);
    const page = await look();
    const asked: string[] = [];
    page.on('request', (request) => {
      const [, id] = /deliveries\/(.+)/.exec(request.url()) ?? [];
      if (id !== undefined) asked.push(id);
    });
    await deliveries(page).first().waitFor();
    await page.clock.pauseAt(NOON + 60_000);
    await page.getByRole('listbox').focus();
    for (let n = 0; n < 10; n++) await page.keyboard.press('ArrowDown');
    await page.clock.runFor(1_000);
    await page.getByRole('heading', { level: 2 }).waitFor();
    expect(asked).toEqual(['dlv_10']);
  });

  it('a late answer does not replace what was selected since', async () => {
    const source = memorySource();
    source.put(aRow(1, { type: 'dubbing.failed' }), aRow(2));
    const { look } = await program(source);
    const page = await look();
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/page/deliveries/dlv_1', async (route) => {
      await released;
      await route.continue();
    });
    const asked = page.waitForRequest(/dlv_1$/);
    await deliveries(page).getByText('evt_1').click();
    await asked;
    await deliveries(page).getByText('evt_2').click();
    const heading = page.getByRole('heading', { level: 2 });
    await heading.waitFor();
    const answered = page.waitForResponse(/dlv_1$/);
    release();
    await (await answered).finished();
    await page.clock.runFor(1_000);
    expect(await heading.innerText()).toBe('delivered stt.completed');
  });

  it('a screen reader gets the number of deliveries after a quiet moment', async () => {
    const source = memorySource();
    source.put(aRow(1));
    const { look } = await program(source);
    const page = await look();
    const news = page.getByRole('status').nth(1);
    await deliveries(page).first().waitFor();
    await page.clock.pauseAt(NOON + 60_000);
    await page.clock.runFor(5_000);
    expect(await news.innerText()).toBe('1 delivery');
    source.put(aRow(2));
    await page.getByText('2 deliveries').first().waitFor();
    await page.clock.runFor(2_500);
    source.put(aRow(3));
    await page.getByText('3 deliveries').first().waitFor();
    expect(await news.innerText()).toBe('1 delivery');
    await page.clock.runFor(1_000);
    expect(await news.innerText()).toBe('3 deliveries');
    await page.clock.runFor(10_000);
    expect(await news.innerText()).toBe('3 deliveries');
  });

  it('actions are sent as JSON', async () => {
    const { look } = await program(memorySource({ send: async () => 'It was sent.' }));
    const page = await look();
    const request = page.waitForRequest(/\/page\/actions\/send$/);
    await send(page);
    expect((await request).headers()['content-type']).toBe('application/json');
  });
});
