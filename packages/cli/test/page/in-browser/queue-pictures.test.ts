import { join } from 'node:path';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { chromium } from '../../../../../test/integration/chromium.js';
import { aQueued } from '../../../../../test/queue/queued.js';
import { aLetter, memoryQueue } from '../memory-queue.js';
import { memorySource } from '../memory-source.js';
import { useQueueBrowser } from './queue-browser.js';

/** Where pictures of the view go, if they are to be made: `SCREENSHOTS=docs`. */
const { SCREENSHOTS } = process.env;

const [DESKTOP, PHONE] = [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
];
const MINUTE = 60_000;

/** A queue after an outage: two causes that pass, and one that does not. */
function aBusyQueue() {
  const now = Date.now();
  const reasons = [
    ...Array(14).fill('connect ECONNREFUSED 10.0.3.17:5432'),
    ...Array(5).fill('No clip with this id: it was deleted before its render was done'),
    ...Array(2).fill("TypeError: Cannot read properties of undefined (reading 'url')"),
  ];
  const types = ['generation.completed', 'stt.completed', 'generation.failed'];
  const letters = reasons.map((reason, n) => {
    const delivery = aQueued({
      eventId: `evt_01J${(46_656 + n * 977).toString(36).toUpperCase()}`,
      type: types[n % 3] ?? '',
    });
    const stack = `Error: ${reason}\n    at saveClip (/app/src/clips.ts:41:11)\n    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)\n    at async handle (/app/src/worker.ts:18:3)`;
    return aLetter(n + 1, {
      ...{ reason, stack, diedAt: now - (90 - 3 * n) * MINUTE },
      id: String(4_812 + n),
      delivery: {
        ...delivery,
        key: delivery.key.replace('test:', 'clips:'),
        signedAt: now - 100 * MINUTE,
        receivedAt: now - 100 * MINUTE + 400,
        unsigned: { webhookId: 'whd_31', attempt: 1 },
      },
    });
  });
  const memory = memoryQueue(letters, { name: 'bullmq' });
  memory.placed.where = 'bullmq at localhost:6379';
  memory.jobs.waiting = letters.slice(0, 7).map((letter, n) => ({
    ...{ ...letter, id: String(5_001 + n), state: 'waiting' as const, attempts: n % 3, diedAt: undefined },
    ...{ queuedAt: now - (9 - n) * 10_000, reason: n % 3 === 0 ? undefined : letter.reason },
  }));
  memory.outcome = ({ id }) => (Number(id) % 5 === 0 ? 'dead' : Number(id) % 7 === 0 ? 'pending' : 'done');
  memory.reasonAgain = 'connect ETIMEDOUT 10.0.3.17:5432';
  return memory;
}

describe.skipIf(chromium === undefined)('accessibility of the view of a queue', () => {
  const open = useQueueBrowser();
  const group = (page: Page, text: string) => page.getByRole('button', { name: text, expanded: false });

  async function showLetter(page: Page) {
    await group(page, 'ECONNREFUSED').click();
    await page.locator('.letters .letter-row').nth(1).click();
    await page.getByRole('article').waitFor();
  }

  async function retryGroup(page: Page) {
    await page.getByRole('button', { name: /^Retry 14 with/ }).click();
    await page.getByText('dead again').first().waitFor();
    await page.getByText('ETIMEDOUT').first().waitFor();
  }

  const scenes: [name: string, viewport: typeof DESKTOP, show: (page: Page) => Promise<void>][] = [
    ['queue', DESKTOP, showLetter],
    ['queue-groups', DESKTOP, (page) => group(page, 'ECONNREFUSED').waitFor()],
    ['queue-retried', DESKTOP, retryGroup],
    [
      'queue-search',
      DESKTOP,
      async (page) => {
        await page.getByRole('searchbox').fill('clip');
        await page.getByText('5 dead letters found.').waitFor();
      },
    ],
    [
      'queue-waiting',
      DESKTOP,
      async (page) => {
        await page.getByRole('tab', { name: 'Waiting' }).click();
        await page.locator('.letter-row').first().waitFor();
      },
    ],
    [
      'queue-discard',
      DESKTOP,
      async (page) => {
        await page.getByRole('button', { name: /^Discard all 21/ }).click();
        await page.getByText('for good?').waitFor();
      },
    ],
    ['queue-phone-groups', PHONE, (page) => group(page, 'ECONNREFUSED').waitFor()],
    ['queue-phone-retried', PHONE, retryGroup],
    ['queue-phone', PHONE, showLetter],
  ];

  async function check(page: Page) {
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate(() => (window as unknown as { axe: typeof axe }).axe.run());
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join('\n')}`)).toEqual([]);
  }

  describe.each(['light', 'dark'] as const)('%s', (colorScheme) => {
    // What checks the page is put in from outside, past the page's own rules for scripts.
    const options = { colorScheme, bypassCSP: true, timezoneId: 'UTC' };

    it.each(scenes)('axe finds no violation in the scene %s', async (name, viewport, show) => {
      const { page } = await open(aBusyQueue(), { ...options, viewport });
      await show(page);
      await check(page);
      if (SCREENSHOTS) await page.screenshot({ path: join(SCREENSHOTS, `${name}-${colorScheme}.png`) });
    });

    it.each([
      ['an empty queue', 'There are no dead letters.', undefined],
      [
        'an engine that does not answer',
        'does not answer',
        new Error('bullmq at localhost:6379 does not answer: ECONNREFUSED'),
      ],
    ])('axe finds no violation with %s', async (name, text, problem) => {
      const memory = memoryQueue([]);
      const { page } = await open(memory, options, memorySource());
      memory.problem = problem;
      await page.getByText(text).first().waitFor();
      await check(page);
      if (SCREENSHOTS)
        await page.screenshot({ path: join(SCREENSHOTS, `${name.replaceAll(' ', '-')}-${colorScheme}.png`) });
    });
  });
});
