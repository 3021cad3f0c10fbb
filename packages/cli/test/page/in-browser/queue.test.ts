import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { chromium } from '../../../../../test/integration/chromium.js';
import { aQueued } from '../../../../../test/queue/queued.js';
import { later } from '../../../../../test/support/deliveries.js';
import { aLetter, memoryQueue } from '../memory-queue.js';
import { memorySource } from '../memory-source.js';
import { useQueueBrowser } from './queue-browser.js';
import { button } from './use-browser.js';

const letters = (page: Page) => page.locator('.panel .letter-row');
const result = (page: Page) => page.locator('.operation .result').first();
const group = (page: Page, reason: string) => page.locator('.toggle').filter({ hasText: reason });
const said = (page: Page) => page.locator('footer').getByRole('status');

const PHONE = { width: 390, height: 844 };

/** Three letters of one reason, and one of another. */
const four = () => [1, 2, 3, 4].map((n) => aLetter(n, n === 4 ? { reason: 'no user' } : {}));

describe.skipIf(chromium === undefined)('the view of a queue', () => {
  const open = useQueueBrowser();

  it('a group of dead letters opens to its letters, and a letter to its body and its reason', async () => {
    const { page } = await open(memoryQueue(four()));
    await expect.poll(() => page.locator('.numbers').innerText()).toMatch(/Dead letters\s+4/);
    await group(page, 'no clip').click();
    await expect.poll(() => letters(page).count()).toBe(3);
    await letters(page).nth(1).click();
    await page.getByRole('heading', { name: 'dead stt.completed' }).waitFor();
    await expect.poll(() => page.getByLabel('Body of the letter').inputValue()).toContain('"id": "evt_2"');
    await page.getByLabel('indented').uncheck();
    await expect.poll(() => page.getByLabel('Body of the letter').inputValue()).toContain('{"id":"evt_2"');
    await expect.poll(() => page.getByLabel('Stack', { exact: true }).inputValue()).toContain('app.ts:1:1');
    expect(await page.locator('dl').last().innerText()).toMatch(/Job id\s+2[\s\S]*Endpoint\s+test\s+Deduplication key/);
  });

  it('a letter whose body is not read has its event, and says what to pass in the place of the body', async () => {
    const why = 'The body of the job is encrypted, and encrypt is not set.';
    const unopened = { key: 'clips:evt_1', why, needs: 'encrypt' as const };
    const { page } = await open(memoryQueue([{ ...aLetter(1, { unopened }), delivery: undefined }]));
    await group(page, 'no clip').click();
    await expect.poll(() => letters(page).first().innerText()).toMatch(/body not shown[\s\S]*evt_1/);
    await letters(page).first().click();
    await page.getByRole('heading', { name: 'dead body not shown' }).waitFor();
    await page.getByText('The body is encrypted: pass --decrypt.').waitFor();
  });

  it('a retried group says live how its letters end, with the new reason', async () => {
    const memory = memoryQueue(four());
    memory.outcome = ({ id }) => (id === '1' ? 'dead' : id === '2' ? 'pending' : 'done');
    const { page } = await open(memory);
    await button(page, 'Retry 3 with the reason no clip').click();
    await expect.poll(() => result(page).innerText()).toBe('1 handled, 1 dead again, 1 still waiting');
    await expect.poll(() => page.locator('.new-reasons').innerText()).toBe('still no clip');
    memory.outcome = () => 'done';
    await expect.poll(() => result(page).innerText()).toBe('2 handled, 1 dead again');
    await page.locator('summary', { hasText: 'Show the 1' }).click();
    await page.locator('.operation .letter-row').click();
    await page.getByRole('region', { name: 'Reason' }).getByText('still no clip').waitFor();
    await button(page, 'Remove this result').click();
    await page.locator('.operation').waitFor({ state: 'detached' });
  });

  it('all letters, and one alone, are retried', async () => {
    const memory = memoryQueue(four());
    const { page } = await open(memory);
    await group(page, 'no user').click();
    await letters(page).first().click();
    await page.getByRole('article').getByRole('button', { name: 'Retry' }).click();
    await expect.poll(() => result(page).innerText()).toBe('1 handled');
    await page.getByText('It is not in the queue any more').waitFor();
    await button(page, 'Retry all 3 of all reasons').click();
    await expect.poll(() => result(page).innerText()).toBe('3 handled');
    await page.getByText('There are no dead letters.').waitFor();
    expect(memory.letters).toEqual([]);
  });

  it('letters are discarded only after the page has asked', async () => {
    const memory = memoryQueue(four());
    const { page } = await open(memory);
    await button(page, 'Discard 3 with the reason no clip …').click();
    await page.getByRole('heading', { name: 'Discard 3 dead letters with the reason no clip for good?' }).waitFor();
    await button(page, 'Keep').click();
    expect(memory.letters).toHaveLength(4);
    await button(page, 'Discard 3 with the reason no clip …').click();
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(memory.letters).toHaveLength(4);
    await button(page, 'Discard 3 with the reason no clip …').click();
    await button(page, 'Discard 3 letters').click();
    await expect.poll(() => result(page).innerText()).toBe('3 discarded');
    expect(memory.letters.map(({ id }) => id)).toEqual(['4']);
  });

  it('the question before letters are discarded says which, and Enter keeps them', async () => {
    const memory = memoryQueue(four());
    const { page } = await open(memory);
    const kept = async (asked: string) => {
      await page.getByRole('heading', { name: asked, exact: true }).waitFor();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    };
    await button(page, 'Discard all 4 of all reasons …').click();
    await kept('Discard 4 dead letters of all reasons for good?');
    await group(page, 'no user').click();
    await letters(page).first().click();
    await page.getByRole('article').getByRole('button', { name: 'Discard' }).click();
    await kept('Discard the dead letter #4 for good?');
    await page.getByRole('searchbox').fill('clip');
    await button(page, "Discard 3 found by 'clip' …").click();
    await kept("Discard 3 dead letters found by 'clip' for good?");
    expect(memory.letters).toHaveLength(4);
    expect(memory.calls.filter((call) => call.startsWith('discard'))).toEqual([]);
  });

  it('a retry is said once, and its end need not be watched', async () => {
    const memory = memoryQueue(four());
    memory.outcome = () => 'pending';
    const { page } = await open(memory);
    await button(page, 'Retry 3 with the reason no clip').click();
    await expect.poll(() => result(page).innerText()).toBe('0 handled, 3 still waiting');
    await expect.poll(() => said(page).innerText()).toBe('');
    expect(await button(page, 'Stop watching').getAttribute('title')).toBe('The retries go on');
    await button(page, 'Stop watching').click();
    await expect.poll(() => result(page).innerText()).toBe('0 handled, 3 were waiting, cancelled');
  });

  it('a change is cancelled, and the rest stays', async () => {
    const memory = memoryQueue(four());
    const { promise, resolve } = later();
    memory.gate = promise;
    const { page } = await open(memory);
    await button(page, 'Retry all 4 of all reasons').click();
    await button(page, 'Cancel').click();
    resolve();
    await expect.poll(() => result(page).innerText()).toMatch(/3 left as they were, cancelled$/);
    expect(memory.letters).toHaveLength(3);
  });

  it('a change is refused where letters came or went since the list was read', async () => {
    const memory = memoryQueue(four());
    const { page, queue } = await open(memory);
    await page.route('**/page/queue/state?*', (route) => route.abort());
    memory.letters.push(aLetter(5));
    queue.refresh();
    await button(page, 'Retry all 4 of all reasons').click();
    await expect.poll(() => said(page).innerText()).toMatch(/^The list has changed .+ 5 dead letters .+ Nothing was/);
    expect(memory.letters).toHaveLength(5);
  });

  it('a discard is refused where another letter took the place of one while the page asked', async () => {
    const memory = memoryQueue(four());
    const { page, queue } = await open(memory);
    await button(page, 'Discard all 4 of all reasons …').click();
    memory.letters.splice(0, 1, aLetter(5));
    queue.refresh();
    await button(page, 'Discard 4 letters').click();
    await expect.poll(() => said(page).innerText()).toContain('Nothing was changed.');
    expect(memory.letters).toHaveLength(4);
  });

  it('an engine that does not answer is named with the cause, and the view recovers by itself', async () => {
    const memory = memoryQueue(four());
    const { page } = await open(memory);
    memory.problem = new Error('bullmq at localhost:6379 does not answer: ECONNREFUSED');
    await page
      .getByRole('alert')
      .getByText(/does not answer: ECONNREFUSED\. Last read \d\d:\d\d:\d\dZ\.$/)
      .waitFor();
    await expect.poll(() => page.locator('.numbers dd.unknown').count()).toBe(3);
    await expect.poll(() => page.getByRole('tab', { name: 'Dead letters' }).innerText()).toBe('Dead letters');
    await page.getByText('no answer, trying again').waitFor();
    memory.problem = undefined;
    memory.letters.push(aLetter(5));
    await page.getByText('5 dead letters, 2 reasons').waitFor();
    await expect.poll(() => page.getByRole('alert').innerText()).toBe('');
    await page.getByRole('tab', { name: 'Dead letters 5' }).waitFor();
    await expect.poll(() => page.locator('.numbers dd.bad').innerText()).toBe('5');
  });

  it('an engine that never answered does not look like a queue without dead letters', async () => {
    const memory = memoryQueue(four());
    memory.problem = new Error('bullmq does not answer.');
    const { page } = await open(memory, {}, undefined, '.connection.lost');
    await page.getByText('Not known: the queue does not answer.').waitFor();
    await expect.poll(() => page.getByRole('alert').innerText()).toBe('bullmq does not answer. Nothing was read yet.');
    expect(await page.locator('.numbers dd.unknown').allInnerTexts()).toEqual(Array(3).fill('not known'));
    for (const part of ['.numbers', 'main'])
      await expect.poll(() => page.locator(part).innerText()).not.toMatch(/There are no|none|\b0\b|Select a/);
  });

  it('an engine that gives only its numbers does not look like a queue without dead letters', async () => {
    const memory = memoryQueue(four());
    const opening = memory.placed.open;
    memory.placed.open = async () => {
      const opened = await opening();
      const deadLetters = () => Promise.reject(new Error('no list'));
      return { ...opened, queue: { ...opened.queue, deadLetters } };
    };
    const { page } = await open(memory, {}, undefined, '.connection.lost');
    await page.getByText('Not known: the queue does not answer.').waitFor();
    await expect.poll(() => page.getByRole('alert').innerText()).toBe('no list. The dead letters were not read yet.');
  });

  it('numbers are grey while the program on this machine does not answer', async () => {
    const { page } = await open(memoryQueue(four()));
    await page.route('**/page/queue/state?*', (route) => route.abort());
    await page.getByText('connection lost, trying again').waitFor();
    await expect.poll(() => page.locator('.numbers dd.unknown').count()).toBe(3);
  });

  it.each([
    ['Dead letters', 'There are no dead letters.'],
    ['Waiting', 'No job is waiting now.'],
  ])('after the engine stops answering, the tab %s does not say that it is empty', async (tab, before) => {
    const memory = memoryQueue([]);
    const { page } = await open(memory);
    await page.getByRole('tab', { name: tab }).click();
    await page.getByText(before).waitFor();
    await expect.poll(() => page.getByRole('region', { name: 'The selected' }).innerText()).toBe('');
    memory.problem = new Error('no answer');
    await page.getByText('Not known: the queue does not answer.').waitFor();
    await expect.poll(() => page.getByText(before).count()).toBe(0);
  });

  it('a search finds letters while the user types, and in bodies until the box is unchecked', async () => {
    const needle = aLetter(9, { delivery: aQueued({ eventId: 'evt_9', jobId: 'job_needle' }) });
    const { page } = await open(memoryQueue([...four(), needle]));
    await page.keyboard.press('/');
    await page.keyboard.type('no user');
    await page.getByText('1 dead letter found.').waitFor();
    await page.getByRole('searchbox').fill('job_needle');
    await page.getByText('No dead letter matches.').waitFor();
    await expect.poll(() => page.getByText('Select a letter').count()).toBe(0);
    await page.getByRole('checkbox', { name: 'also in bodies' }).check();
    await page.getByText('1 dead letter found, bodies included.').waitFor();
    await expect.poll(() => letters(page).innerText()).toContain('evt_9');
    await page.getByRole('searchbox').fill('job_need');
    await page.getByText('1 dead letter found, bodies included.').waitFor();
    expect(await page.getByRole('checkbox', { name: 'also in bodies' }).isChecked()).toBe(true);
    await button(page, "Discard 1 found by 'job_need', also in bodies …").click();
    await page.getByRole('heading', { name: "Discard 1 dead letter found by 'job_need', also in bodies" }).waitFor();
    await button(page, 'Keep').click();
    await page.getByRole('checkbox', { name: 'also in bodies' }).uncheck();
    await page.getByText('No dead letter matches.').waitFor();
  });

  it('a search that fails says why, and is tried again', async () => {
    const { page } = await open(memoryQueue(four()));
    const json = { error: 'bullmq does not answer' };
    await page.route('**/page/queue/letters?*', (route) => route.fulfill({ status: 502, json }), { times: 1 });
    await page.getByRole('searchbox').fill('no user');
    await page.getByText('bullmq does not answer').waitFor();
    await page.getByText('1 dead letter found.').waitFor();
    await expect.poll(() => page.getByText('bullmq does not answer').count()).toBe(0);
    expect(await page.getByRole('searchbox').getAttribute('maxlength')).toBe('1000');
  });

  it('letters of an earlier search are not shown as those of a group', async () => {
    const { page } = await open(memoryQueue(four()));
    await group(page, 'no clip').click();
    await page.getByRole('searchbox').fill('no user');
    await page.getByText('1 dead letter found.').waitFor();
    await page.route('**/page/queue/letters?*', () => {}); // no answer
    await page.getByRole('searchbox').fill('');
    await group(page, 'no clip').waitFor();
    await expect.poll(() => letters(page).count()).toBe(0);
  });

  it('headers that the signature does not cover are named so', async () => {
    const delivery = { ...aQueued({ eventId: 'evt_1' }), unsigned: { webhookId: 'whd_31' } };
    const { page } = await open(memoryQueue([aLetter(1, { delivery })]));
    await group(page, 'no clip').click();
    await letters(page).first().click();
    await page.getByRole('heading', { name: 'Headers (not covered by the signature)' }).waitFor();
  });

  it('j and k go through groups and letters, Enter opens and Escape goes back', async () => {
    const { page } = await open(memoryQueue(four()));
    await group(page, 'no clip').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await letters(page).first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await expect.poll(() => page.getByLabel('Body of the letter').inputValue()).toContain('evt_2');
    await page.keyboard.press('k');
    await expect.poll(() => page.getByLabel('Body of the letter').inputValue()).toContain('evt_1');
    await page.keyboard.press('Escape');
    await page.getByText('Select a letter').waitFor();
    await page.keyboard.press('Escape');
    await letters(page).first().waitFor({ state: 'detached' });
  });

  it('j leads past the rows of a result that is closed', async () => {
    const memory = memoryQueue(four());
    memory.outcome = () => 'dead';
    const { page } = await open(memory);
    await button(page, 'Retry 3 with the reason no clip').click();
    await page.locator('summary', { hasText: 'Show the 3' }).waitFor();
    await group(page, 'still no clip').waitFor();
    await page.locator('h1').click();
    await page.keyboard.press('j');
    expect(await page.evaluate(() => document.activeElement?.className)).toBe('toggle');
  });

  it('after a discard the button of the group has the focus, and the list once the group is gone', async () => {
    const memory = memoryQueue(four());
    const { promise, resolve } = later();
    memory.gate = promise;
    const { page } = await open(memory);
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
    await button(page, 'Discard 3 with the reason no clip …').click();
    await button(page, 'Discard 3 letters').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await focused()).toBe('Discard 3 with the reason no clip …');
    resolve();
    await group(page, 'no clip').waitFor({ state: 'detached' });
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('panel');
  });

  it('a screen reader announces only the end of a change', async () => {
    const memory = memoryQueue(four());
    memory.outcome = () => 'pending';
    const { page } = await open(memory);
    const announced = page.locator('header').getByRole('status');
    await button(page, 'Retry 3 with the reason no clip').click();
    await expect.poll(() => result(page).innerText()).toBe('0 handled, 3 still waiting');
    expect(await announced.allInnerTexts()).toEqual(['']);
    memory.outcome = () => 'done';
    await expect.poll(() => announced.innerText()).toBe('Retry of 3 letters ended: 3 handled');
  });

  it('a job that has left the queue is no longer shown as one that waits', async () => {
    const memory = memoryQueue([]);
    const aJob = (n: number) => ({ ...aLetter(n), state: 'waiting' as const, queuedAt: Date.now(), diedAt: undefined });
    memory.jobs.waiting = [aJob(7), aJob(8)];
    const { page } = await open(memory);
    await page.getByRole('tab', { name: 'Waiting' }).click();
    await letters(page).first().click();
    await page.getByRole('heading', { name: 'waiting stt.completed' }).waitFor();
    memory.jobs.waiting.shift();
    await page.getByText('This job cannot be shown: It is not in the queue any more').waitFor();
  });

  it('jobs that wait are listed, and a state that the engine does not list says why', async () => {
    const memory = memoryQueue([], { name: 'nats', unlisted: { running: 'JetStream does not record it' } });
    memory.jobs.waiting = [{ ...aLetter(7), state: 'waiting', queuedAt: Date.now(), diedAt: undefined }];
    const { page } = await open(memory);
    await page.getByRole('tab', { name: 'Waiting' }).click();
    await page.getByText('Select a job to see its body.', { exact: true }).waitFor();
    await expect.poll(() => letters(page).innerText()).toContain('#7');
    await letters(page).first().click();
    await page.getByRole('heading', { name: 'waiting stt.completed' }).waitFor();
    await page.getByRole('tab', { name: 'Waiting' }).press('ArrowRight');
    await page.getByText('nats cannot list jobs that are running: JetStream does not record it.').waitFor();
  });

  it('with 10,000 dead letters the page draws a part, and says of how many', async () => {
    const memory = memoryQueue(Array.from({ length: 10_500 }, (_, n) => aLetter(n, { reason: `no clip ${n}` })));
    const { page } = await open(memory);
    await page.getByText('The oldest 10,000 of 10,500 dead letters, 1 reason').waitFor();
    await group(page, 'no clip …').click();
    await page.getByText('The oldest 100 of 10,000').waitFor();
    await button(page, 'Show more').click();
    await page.getByText('The oldest 200 of 10,000').waitFor();
    await expect.poll(() => letters(page).count()).toBe(200);
    await button(page, 'Retry the oldest 1,000 of all reasons').waitFor();
    for (let shown = 300; shown <= 1_000; shown += 100) {
      await button(page, 'Show more').click();
      await page.getByText(`The oldest ${shown.toLocaleString('en')} of 10,000`).waitFor();
    }
    await page.getByText('Search finds the others.').waitFor();
    await expect.poll(() => button(page, 'Show more').count()).toBe(0);
  });

  it('script and control characters in a letter are text', async () => {
    const script = '<img src=x onerror="window.ran=1"><script>window.ran=1</script>';
    const delivery = aQueued({ eventId: `evt_${script}\u202e`, type: script, tenant: script });
    const memory = memoryQueue([
      aLetter(1, { id: `\u0000${script}`, delivery, reason: script, stack: script }),
      aLetter(2, { id: '\ud800', delivery: undefined, diedAt: 9e15, reason: '\u001b[31m' }),
    ]);
    const { page } = await open(memory);
    await group(page, '<script>').click();
    await letters(page).first().click();
    await page.getByRole('region', { name: 'Reason' }).getByText(script).waitFor();
    await group(page, '\\u001b[31m').click();
    await letters(page).first().click();
    await page.getByText('This job is not a delivery that this version can read.').waitFor();
    expect(await page.evaluate(() => Reflect.get(window, 'ran'))).toBeUndefined();
    await page.getByRole('article').getByRole('button', { name: 'Retry' }).click();
    await expect.poll(() => result(page).innerText()).toBe('1 handled');
    expect(memory.calls).toContain('retry \ud800');
  });

  it('the stack has the width of the pane, and wraps on a phone', async () => {
    const { page } = await open(memoryQueue([aLetter(1, { stack: `Error: no clip at ${'a/'.repeat(400)}` })]));
    await group(page, 'no clip').click();
    await letters(page).first().click();
    const stack = page.getByLabel('Stack', { exact: true });
    const widthOf = async (found: Locator) => (await found.boundingBox())?.width ?? 0;
    const isScrolled = () => stack.evaluate((area) => area.scrollWidth > area.clientWidth);
    const pane = await widthOf(page.getByRole('region', { name: 'The selected letter' }));
    expect(await widthOf(stack)).toBeGreaterThan(0.85 * pane);
    expect(await widthOf(stack)).toBeLessThan(pane);
    expect(await isScrolled()).toBe(true);
    await page.setViewportSize(PHONE);
    await expect.poll(isScrolled).toBe(false);
  });

  it('on a phone the buttons of all letters are one row, and each control can be touched', async () => {
    const { page } = await open(memoryQueue(four()), { viewport: PHONE }, memorySource());
    const topOf = async (name: string) => (await page.getByRole('button', { name }).boundingBox())?.y;
    await page.getByRole('button', { name: 'Read again' }).waitFor();
    expect(await topOf('Read again')).toBe(await topOf('Retry all 4'));
    const lowest = (where: string) =>
      page.locator(where).evaluateAll((found) =>
        found
          .map((control) => ({ control, height: control.getBoundingClientRect().height }))
          .filter(({ height }) => height > 0 && height < 32)
          .map(({ control }) => control.outerHTML),
      );
    const controls = 'button, summary, a, input:not([type=checkbox]), label:has(input)';
    expect(await lowest(controls)).toEqual([]);
    await group(page, 'no clip').click();
    await letters(page).first().click();
    await page.getByRole('article').waitFor();
    expect(await lowest(controls)).toEqual([]);
  });

  it('a retry beneath a letter that covers the page is said over it', async () => {
    const { page } = await open(memoryQueue(four()), { viewport: PHONE });
    await group(page, 'no user').click();
    await letters(page).first().click();
    await page.getByRole('article').getByRole('button', { name: 'Retry' }).click();
    await expect.poll(() => said(page).innerText()).toBe('Retrying 1 dead letter.');
    await button(page, '← Back to the list').click();
    await expect.poll(() => said(page).innerText()).toBe('');
  });

  it('a button that discards looks different where it cannot be used, and says why', async () => {
    const memory = memoryQueue(four());
    const { promise, resolve } = later();
    memory.gate = promise;
    const { page } = await open(memory);
    const discard = button(page, 'Discard all 4 of all reasons …');
    const look = () => discard.evaluate((shown) => getComputedStyle(shown).opacity);
    expect(await look()).toBe('1');
    await button(page, 'Retry 1 with the reason no user').click();
    await expect.poll(() => discard.getAttribute('aria-disabled')).toBe('true');
    expect(Number(await look())).toBeLessThan(1);
    await discard.click({ force: true }); // as a user may, since it is not disabled
    await expect.poll(() => said(page).innerText()).toBe('Another change runs: wait for its end, or cancel it.');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    resolve();
  });

  it('a group says between which times its letters died', async () => {
    const died = (minutes: number) => ({ diedAt: Date.now() - minutes * 60_000 - 30_000 });
    const { page } = await open(memoryQueue([aLetter(1, died(64)), aLetter(2, died(62)), aLetter(3, died(51))]));
    await group(page, 'no clip')
      .getByText(/^51 min – 1 h 4 min ago · /)
      .waitFor();
  });

  it('on a phone a letter covers the list, and Back leads to it again', async () => {
    const { page } = await open(memoryQueue(four()), { viewport: PHONE });
    await group(page, 'no clip').click();
    await letters(page).first().click();
    await page.getByRole('article').waitFor();
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('letter');
    await page.goBack();
    await expect.poll(() => page.evaluate(() => document.activeElement?.className)).toBe('letter-row');
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  });

  it('a letter in the address is opened again, except one of another run of the program', async () => {
    const { page, url } = await open(memoryQueue(four()));
    await group(page, 'no user').click();
    await letters(page).first().click();
    await page.getByRole('article').waitFor();
    const address = new URL(page.url());
    await page.reload();
    await page.getByRole('article').getByText('evt_4', { exact: true }).first().waitFor();
    await page.goto('about:blank');
    const isOf = new URLSearchParams(address.hash.slice(1));
    isOf.set('run', crypto.randomUUID());
    await page.goto(`${url}#${isOf}`);
    await page.getByText('Select a letter').waitFor();
    expect(new URL(page.url()).hash).toBe('');
  });

  it('links lead from the queue to the deliveries and back, where the server has both', async () => {
    const { page } = await open(memoryQueue(four()), {}, memorySource());
    await expect.poll(() => page.locator('h1 + nav').innerText()).toMatch(/Deliveries\s+Queue/);
    await page.getByRole('link', { name: 'Deliveries' }).click();
    await page.getByRole('heading', { name: 'Deliveries of a test' }).waitFor();
    await page.getByRole('link', { name: 'Queue' }).click();
    await page.getByRole('heading', { name: 'Queue clips' }).waitFor();
  });

  it('the engine is left alone while the page is hidden', async () => {
    const memory = memoryQueue(four());
    const { page } = await open(memory);
    await page.evaluate(() => {
      Object.defineProperty(document, 'hidden', { value: true, configurable: true });
    });
    await page.clock.install();
    const states: string[] = [];
    await page.waitForResponse('**/page/queue/state?*'); // the look that was planned before
    page.on('request', (request) => states.push(request.url()));
    await page.clock.runFor(10_000);
    expect(states).toEqual([]);
    const response = page.waitForResponse('**/page/queue/state?*');
    await page.evaluate(() => {
      Object.defineProperty(document, 'hidden', { value: false, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    await response;
  });
});
