import { describe, expect, it } from 'vitest';
import { chromium } from '../../../../../test/integration/chromium.js';
import { emulated } from '../emulator/emulated.js';
import { anAttempt, aRow, memorySource } from '../memory-source.js';
import { button, choose, deliveries, message, row, useBrowser } from './use-browser.js';

describe.skipIf(chromium === undefined)('actions on the page', () => {
  const { open } = useBrowser();

  it('an own event is checked while it is written, and sent with retries', async () => {
    const { emulator, source } = await emulated({ fails: () => true });
    const { page } = await open(source);
    await choose(page, 'Write an event');
    const editor = page.getByLabel('Event as JSON');
    const state = page.locator('#own-event-state');
    await page.getByLabel('Sample').selectOption('stt.failed');
    await expect.poll(() => editor.inputValue()).toContain('"type": "stt.failed"');
    await page.getByText('The event is valid.').waitFor();
    await editor.fill('{"type": "stt.failed",');
    expect(await state.innerText()).toMatch(/^This is not JSON: /);
    expect(await editor.getAttribute('aria-invalid')).toBe('true');
    await button(page, 'Send the event').click({ force: true });
    await editor.fill('{"type": "generation.completed", "data": {"clipId": 7}}');
    expect(await state.innerText()).toBe('The service sends data.clipId as a string.');
    await button(page, 'Reset').click();
    await expect.poll(() => editor.inputValue()).toContain('"type": "stt.failed"');
    expect(emulator.totals.attempts).toBe(0);
    await editor.fill('{"type": "stt.failed", "id": "evt_mine", "data": {"reason": "j/k noise"}}');
    await button(page, 'Send the event').click();
    await page.getByText('stt.failed is on its way.').waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await row(page, 'waiting stt.failed').click();
    await choose(page, 'Skip time: 6 h');
    await row(page, 'dead stt.failed').waitFor();
    const body = page.getByLabel('Body of the request');
    await expect.poll(() => body.inputValue()).toContain('"reason": "j/k noise"');
    await page.getByText('evt_mine').first().waitFor();
  });

  it('the editor closes with Cancel and with Escape', async () => {
    const { emulator, source } = await emulated();
    const { page } = await open(source);
    for (const leave of [() => button(page, 'Cancel').click(), () => page.keyboard.press('Escape')]) {
      await choose(page, 'Write an event');
      await page.getByRole('dialog').waitFor();
      await leave();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    expect(emulator.deliveries.list()).toEqual([]);
  });

  it('an event that the emulator refuses stays in the editor', async () => {
    const { source, emulator, endpoint } = await emulated({ maxPending: 1 });
    emulator.endpoints.pause(endpoint.id);
    await emulator.emit('stt.completed');
    const { page } = await open(source);
    await choose(page, 'Write an event');
    await page.getByText('The event is valid.').waitFor();
    await button(page, 'Send the event').click();
    await page.getByText('maxPending').first().waitFor();
    expect(await page.getByRole('dialog').isVisible()).toBe(true);
  });

  it('the retries of all dead deliveries are started again together', async () => {
    let fails = true;
    const { emulator, source } = await emulated({ fails: () => fails });
    const { page } = await open(source);
    const name = 'Start the retries of all dead deliveries again';
    await choose(page, name);
    await expect.poll(() => message(page).innerText()).toBe('No delivery is dead.');
    for (const type of ['stt.failed', 'export.failed']) await emulator.emit(type);
    await emulator.runUntilIdle();
    await expect.poll(() => row(page, 'dead').count()).toBe(2);
    fails = false;
    await choose(page, name);
    await page.getByText('2 dead deliveries start again.').waitFor();
    await expect.poll(() => row(page, 'delivered').count()).toBe(2);
    await page.getByRole('button', { name: 'More' }).click();
    expect(await page.getByRole('menuitem', { name }).getAttribute('aria-disabled')).toBe('true');
  });

  it('“Clear the list” empties it, after a question', async () => {
    const { emulator, source } = await emulated();
    await emulator.emit('stt.completed');
    await emulator.settled();
    const { page } = await open(source);
    await row(page, 'delivered').waitFor();
    const questions: string[] = [];
    const answers = [false, true];
    page.on('dialog', async (dialog) => {
      questions.push(dialog.message());
      await (answers.shift() ? dialog.accept() : dialog.dismiss());
    });
    await choose(page, 'Clear the list');
    expect(await deliveries(page).count()).toBe(1);
    await choose(page, 'Clear the list');
    await page.getByText('1 delivery is cleared.').waitFor();
    await page.getByText('No deliveries yet.').waitFor();
    expect(await deliveries(page).count()).toBe(0);
    const question = 'Remove all deliveries that have ended from this page?';
    expect(questions).toEqual([question, question]);
  });

  it('time that is skipped gives each attempt the time when it was due', async () => {
    const { emulator, source } = await emulated({ clock: 'real', fails: () => true });
    await emulator.emit('stt.failed');
    await emulator.settled();
    const { page } = await open(source, { timezoneId: 'UTC' });
    await row(page, 'waiting').click();
    const first = page.locator('.timeline .place .note').first();
    const came = Date.parse(`2026-01-01T${await first.innerText()}`);
    await choose(page, 'Skip time: 10 min');
    await page.getByRole('button', { name: 'Attempt 3: 500, failed' }).waitFor();
    const third = Date.parse(`2026-01-01T${await page.locator('.timeline .place .note').nth(2).innerText()}`);
    const later = (third - came + 86_400_000) % 86_400_000;
    expect(later).toBeGreaterThanOrEqual(149_000);
    expect(later).toBeLessThan(600_000);
    await page.locator('.clock').getByText('10 min ahead of this machine').waitFor();
    await page.getByText(/By the clock of this machine .+, which is the time in the signature\./).waitFor();
    await page.getByText('The signature is valid, so the app has to accept this delivery.').waitFor();
  });

  it('the answer comes first, with its status, its code and the verdict', async () => {
    const { emulator, source } = await emulated({ fails: () => true });
    await emulator.emit('stt.failed');
    await emulator.settled();
    const { page } = await open(source);
    await row(page, 'waiting').click();
    const answer = page.getByRole('region', { name: 'Answer of the app' });
    await answer.waitFor();
    expect((await answer.innerText()).split(/\s*\n\s*/)).toEqual([
      '500 handler_failed',
      'The signature is valid, so the app has to accept this delivery.',
      'Answer in full',
    ]);
    const order = await page
      .getByRole('article')
      .evaluate((article) => [...article.children].map((part) => part.className || part.tagName));
    expect(order).toContain('answer-box failed');
    expect(order.indexOf('answer-box failed')).toBeLessThan(order.indexOf('body'));
    expect(await page.getByRole('table').count()).toBe(0); // folded
  });

  it('an answer of another app is shown whole, and a duplicate is marked', async () => {
    const source = memorySource();
    source.put(aRow(1, { state: 'failed', status: 500 }), aRow(2, { duplicates: 1 }));
    const body = { text: 'TypeError: x', bytes: 12, shown: 'text', cut: false } as const;
    const advice = { cause: 'failed', message: 'The app failed.', fix: 'Look at the log of the app.' } as const;
    const answer = { status: 500, headers: [], body };
    source.detail('dlv_1', {}, anAttempt(1, { acknowledged: false, status: 500, answer, advice }));
    source.detail('dlv_2', {}, anAttempt(1, { id: 'att_2', kind: 'duplicate', recognised: true, code: 'duplicate' }));
    const { page } = await open(source);
    await deliveries(page).nth(1).click();
    await page.getByText('The app failed. Look at the log of the app.').waitFor();
    expect(await page.getByLabel('Body of the answer').isVisible()).toBe(true);
    await row(page, 'duplicate').click();
    await page
      .getByText('200 duplicate: acknowledged, as a duplicate: the app has handled this event before')
      .waitFor();
    await page.getByText('1: the same attempt was sent more than once').waitFor();
    await page.getByRole('heading', { name: 'Attempt 1, a duplicate' }).waitFor();
  });

  it('an action that fails shows its error', async () => {
    const { page } = await open(
      memorySource({
        send: async () => {
          throw new Error('the port is gone');
        },
      }),
    );
    await page.getByRole('button', { name: 'Send a sample' }).click();
    await expect.poll(() => message(page).innerText()).toBe('the port is gone');
    expect(await page.getByRole('button', { name: /More|Pause/ }).count()).toBe(0);
  });
});
