import { pathToFileURL } from 'node:url';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { chromium } from '../../../../../test/integration/chromium.js';
import { jobsView } from '../../../src/job-stores/jobs-view.js';
import { readAssets } from '../../../src/page/server/document.js';
import { queueView } from '../../../src/queues/view/queue-view.js';
import { type MemoryJobs, MINUTE, memoryJobs } from '../memory-jobs.js';
import { memoryQueue } from '../memory-queue.js';
import { memorySource } from '../memory-source.js';
import { served } from '../served.js';
import { NOON, useBrowser } from './use-browser.js';

const table = (page: Page) => page.getByRole('table', { name: /^Jobs that are waited for/ });
const rows = async (page: Page) =>
  (await table(page).getByRole('row').allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ').trim());

describe.skipIf(chromium === undefined)('the view of jobs', () => {
  const { newWindow } = useBrowser();

  /** The views of deliveries, of an empty queue and of jobs, with that of jobs open. */
  async function open(
    memory: MemoryJobs,
    shows = '.connection.open',
    { holdsClock = false, ...options }: BrowserContextOptions & { holdsClock?: boolean } = {},
  ) {
    const jobs = jobsView(memory.placed, { now: memory.now });
    const queue = queueView(memoryQueue([]).placed);
    onTestFinished(async () => void (await Promise.all([jobs.close(), queue.close()])));
    const assets = await readAssets(pathToFileURL(`${inject('built').page}/`));
    const server = await served(memorySource(), assets, { queue, jobs });
    const page = await newWindow(options);
    if (holdsClock) await page.clock.install({ time: NOON });
    await page.goto(`${server.url}page/jobs`);
    await page.locator(shows).waitFor();
    return page;
  }

  it('lists overdue and expected jobs with their numbers', async () => {
    const memory = memoryJobs();
    await memory.expect('dub_2', { within: 60 * MINUTE });
    await memory.expect('dub_1', { within: MINUTE, types: ['dubbing.completed'], note: 'the intro', tenant: 'north' });
    memory.advance(3 * MINUTE);
    const page = await open(memory);
    expect(await rows(page)).toEqual([
      'Due Job Ends with Note Expected',
      'overdue by 2 min dub_1 of north dubbing.completed the intro 3 min ago',
      'in 57 min dub_2 any .completed or .failed 3 min ago',
    ]);
    const numbers = page.getByLabel('Numbers of the jobs');
    expect((await numbers.innerText()).replaceAll(/\s+/g, ' ')).toBe('Waited for 2 Overdue 1');
    expect(await page.title()).toBe('Jobs · memory at 127.0.0.1');
  });

  it('refreshes while it is open, and says how many more there are', async () => {
    const memory = memoryJobs();
    const page = await open(memory);
    await page.getByText('No job is waited for.').waitFor();
    for (let n = 0; n < 102; n += 1) await memory.expect(`dub_${n}`, { within: MINUTE });
    memory.advance(2_000);
    await page.getByText('and 2 more').waitFor();
    expect(await table(page).getByRole('row').count()).toBe(101);
  });

  it('asks the store no more while it is hidden', async () => {
    const memory = memoryJobs();
    const page = await open(memory, '.connection.open', { holdsClock: true });
    const hide = (hidden: boolean) =>
      page.evaluate((hidden) => {
        Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      }, hidden);
    await hide(true);
    await page.clock.runFor(2_000); // the look that was due when the page was hidden is the last one
    let asked = 0;
    page.on('request', () => {
      asked += 1;
    });
    await page.clock.runFor(60_000);
    expect(asked).toBe(0);
    await hide(false);
    await expect.poll(() => asked).toBe(1);
  });

  it('says why a store does not answer, and shows what was read before', async () => {
    const memory = memoryJobs();
    await memory.expect('dub_1', { within: MINUTE });
    const page = await open(memory);
    memory.problem = new Error('redis at localhost:1 does not answer: ECONNREFUSED. Check the URL and the server.');
    memory.advance(4_000);
    const alert = page.getByRole('alert');
    await expect
      .poll(() => alert.innerText())
      .toBe('redis at localhost:1 does not answer: ECONNREFUSED. Check the URL and the server. Last read 4 s ago.');
    expect(await page.locator('.connection').innerText()).toBe('no answer, trying again');
    expect(await rows(page)).toHaveLength(2);
    memory.problem = undefined;
    memory.advance(2_000);
    await page.locator('.connection.open').waitFor();
    expect(await alert.innerText()).toBe('');
  });

  it('says why a store cannot be opened', async () => {
    const memory = memoryJobs();
    memory.problem = new Error('webhooks.db: there is no such file; check the path');
    const page = await open(memory, '.connection.lost');
    expect(await page.getByRole('alert').innerText()).toBe(
      'webhooks.db: there is no such file; check the path. Nothing was read yet.',
    );
    await page.getByText('Not known: the store does not answer.').waitFor();
  });

  it('is a link of every view, and markup in a note is text', async () => {
    const memory = memoryJobs();
    await memory.expect('<b>dub_1</b>', { within: MINUTE, note: '<img src=x onerror=alert(1)>' });
    const page = await open(memory);
    expect(await rows(page)).toContainEqual(
      expect.stringContaining('<b>dub_1</b> any .completed or .failed <img src=x'),
    );
    const views = page.getByRole('navigation', { name: 'Views' });
    expect(await views.getByRole('link').allInnerTexts()).toEqual(['Deliveries', 'Queue', 'Jobs']);
    expect(await views.getByRole('link', { name: 'Jobs' }).getAttribute('aria-current')).toBe('page');
    await views.getByRole('link', { name: 'Queue' }).click();
    await page.getByRole('heading', { name: /^Queue/ }).waitFor();
    await views.getByRole('link', { name: 'Deliveries' }).click();
    await page.getByRole('listbox', { name: 'Deliveries, the newest first' }).waitFor();
    await views.getByRole('link', { name: 'Jobs' }).click();
    await table(page).waitFor();
  });

  it('fits into a narrow window, where the table scrolls inside its panel', async () => {
    const memory = memoryJobs();
    await memory.expect('dub_1'.repeat(20), { within: MINUTE, types: ['dubbing.completed', 'dubbing.failed'] });
    const page = await open(memory, '.connection.open', { viewport: { width: 390, height: 844 } });
    await table(page).waitFor();
    const widths = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    expect(widths[0]).toBeLessThanOrEqual(widths[1] ?? 0);
  });
});
