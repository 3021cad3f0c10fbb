import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { chromium } from '../../../../../test/integration/chromium.js';
import type { Actions, AttemptDetails, DeliveryDetails, DeliveryRow } from '../../../src/page/page-source.js';
import { anAttempt, aRow, memorySource } from '../memory-source.js';
import { deliveries, section, useBrowser } from './use-browser.js';

interface Shown {
  row?: Partial<DeliveryRow>;
  details?: Partial<DeliveryDetails>;
  attempts?: AttemptDetails[];
  actions?: Actions;
}

describe.skipIf(chromium === undefined)('the selected delivery', () => {
  const { open } = useBrowser();

  /** The page with a delivery, which is selected. */
  async function select({ row = {}, details = {}, attempts = [anAttempt(1)], actions = {} }: Shown = {}) {
    const source = memorySource(actions);
    const shown = aRow(1, row);
    source.put(shown, aRow(2));
    source.detail('dlv_1', details, ...attempts);
    const opened = await open(source, { timezoneId: 'UTC' });
    await deliveries(opened.page).nth(1).click();
    await opened.page.getByRole('heading', { level: 2 }).waitFor();
    return { ...opened, source, shown };
  }
  const article = (page: Page) => page.getByRole('article');
  /** What is written in an element, each line apart. */
  const lines = async (element: ReturnType<Page['locator']>) =>
    (await element.innerText()).split(/\s*\n\s*/).filter((line) => line !== '');

  it('the page asks for a selection where there is none', async () => {
    const { page } = await open(memorySource());
    expect(await section(page).innerText()).toBe('Select a delivery to see what was sent and answered.');
  });

  it('the page shows what was sent, where to and since when', async () => {
    const { page, source } = await select({ row: { state: 'dead' } });
    expect(await lines(section(page))).toEqual(
      expect.arrayContaining(['dead stt.completed', 'evt_1 Copy', 'dlv_1 Copy', 'http://127.0.0.1:3000/webhooks']),
    );
    expect(await section(page).innerText()).toMatch(/Since\s+2026-07-11 12:00:00Z/);
    expect(await section(page).innerText()).not.toContain('Select a delivery');
    source.oversee({ endpoints: [] });
    await section(page).getByText('wh_1').waitFor();
  });

  it('a lost delivery says that no attempt was made, and then shows the attempts that were started', async () => {
    const lost = 'The webhook never comes. An app finds its job.';
    const row = { state: 'lost', attempts: 0, cause: 'never comes' } as const;
    const { page, source } = await select({ row, details: { lost }, attempts: [] });
    expect(await lines(section(page))).toEqual(expect.arrayContaining(['lost stt.completed', 'Attempts', lost]));
    expect(await deliveries(page).nth(1).innerText()).toContain('never comes');
    expect(await section(page).getByRole('listitem').count()).toBe(0);
    source.detail('dlv_1', { lost }, anAttempt(1, { redelivery: 1 }));
    source.put(aRow(1, { state: 'delivered', redeliveries: 1 }));
    await section(page).getByRole('button', { name: 'Attempt 1: 200' }).waitFor();
    expect(await lines(section(page))).toEqual(expect.arrayContaining([lost, 'Started again']));
    expect(await section(page).getByRole('listitem').count()).toBe(1);
  });

  it('a delivery that is gone is reported as no longer kept', async () => {
    const { page, source } = await select();
    expect(await page.getByText('no longer kept').count()).toBe(0);
    source.remove('dlv_1');
    await section(page).getByText('This delivery is no longer kept.').waitFor();
    expect(await section(page).innerText()).toBe('This delivery is no longer kept.');
  });

  it('the newest attempt is shown until another one is picked', async () => {
    const { page, source } = await select();
    await page.getByRole('article', { name: 'Attempt 1' }).waitFor();
    source.detail('dlv_1', {}, anAttempt(1), anAttempt(2));
    source.put(aRow(1, { attempts: 2 }));
    await page.getByRole('article', { name: 'Attempt 2' }).waitFor();
    const first = page.getByRole('button', { name: 'Attempt 1: 200' });
    const second = page.getByRole('button', { name: 'Attempt 2: 200' });
    expect(await second.getAttribute('aria-pressed')).toBe('true');
    expect(await first.getAttribute('aria-pressed')).toBe('false');
    await first.click();
    await page.getByRole('article', { name: 'Attempt 1' }).waitFor();
    source.detail('dlv_1', {}, anAttempt(1), anAttempt(2), anAttempt(3));
    source.put(aRow(1, { attempts: 3 }));
    await page.getByRole('button', { name: 'Attempt 3: 200' }).waitFor();
    expect(await first.getAttribute('aria-pressed')).toBe('true');
    expect(await article(page).getAttribute('aria-label')).toBe('Attempt 1');
  });

  it('the next delivery shows its newest attempt, whatever was picked before', async () => {
    const { page, source } = await select({ attempts: [anAttempt(1), anAttempt(2)] });
    source.detail('dlv_2', {}, anAttempt(1, { id: 'att_other', request: { ...anAttempt(7).request } }));
    await page.getByRole('button', { name: 'Attempt 1: 200' }).click();
    await page.getByRole('article', { name: 'Attempt 1' }).waitFor();
    await deliveries(page).first().click();
    await article(page).getByText('1 header').last().click();
    await article(page).getByRole('table', { name: 'Headers of the request' }).getByText('7').waitFor();
  });

  it('an attempt that is gone is reported as no longer kept', async () => {
    const source = memorySource();
    source.put(aRow(1));
    const { attempt, ...rest } = source;
    source.detail('dlv_1', {}, anAttempt(1));
    const { page } = await open({ ...rest, attempt: (id) => (id === 'att_1' ? undefined : attempt(id)) });
    await deliveries(page).click();
    await section(page).getByText('This attempt is no longer kept.').waitFor();
  });

  it('an attempt shows its time, its duration, its request and its answer', async () => {
    const request = { ...anAttempt(1).request, headers: [['x-a', '1'] as const, ['x-b', '2'] as const] };
    const { page } = await select({ attempts: [anAttempt(1, { request })] });
    await article(page).waitFor();
    expect(await lines(article(page))).toEqual([
      'Attempt 1',
      '2026-07-11 12:01:00Z, took 80 ms',
      '200: acknowledged',
      'The signature is valid.',
      'Answer in full',
      'Request',
      'POST http://127.0.0.1:3000/webhooks',
      'Copy as curl',
      'Copy body',
      'Download .http',
      'Copy as test',
      'Copy link',
      '14 bytesindented',
      '2 headers',
    ]);
    for (const folded of ['Answer in full', '1 header', '2 headers']) await article(page).getByText(folded).click();
    const open = await lines(article(page));
    expect(open).toEqual(expect.arrayContaining(['x-a\t1', 'x-b\t2', 'x-answer\tyes', 'No body.']));
  });

  it('a failed attempt shows its faults and the missing answer', async () => {
    const failed = anAttempt(1, {
      acknowledged: false,
      status: undefined,
      answer: undefined,
      problem: 'reset',
      faults: ['reset', 'slow'],
      endedAt: anAttempt(1).at + 1_500,
      verdict: { verdict: 'unverified', causes: [] },
    });
    const { page } = await select({ row: { state: 'failed' }, attempts: [failed] });
    await article(page).waitFor();
    const text = await lines(article(page));
    expect(text.slice(1, 4)).toEqual([
      '2026-07-11 12:01:00Z, took 1 s (fault: reset, slow)',
      'No answer that counts: reset',
      'Not verified: the secret of this endpoint is not known here.',
    ]);
    expect(text).not.toContain('Answer in full');
    const button = page.getByRole('button', { name: 'Attempt 1: reset, failed' });
    expect(await button.innerText()).toBe('✕');
    expect(await button.getAttribute('title')).toBe('reset');
  });

  describe('the verdict', () => {
    const cause = {
      cause: 'body_reserialised',
      certainty: 'certain',
      evidence: 'The body differs.',
      fix: 'Verify the bytes that came.',
    } as const;
    const forged = { verdict: 'signature_mismatch', causes: [cause] } as const;
    const advice = { cause: 'other_secret', message: 'Your app has another secret.', fix: 'Compare them.' } as const;
    const refused = { acknowledged: false, status: 401, code: 'signature_mismatch', advice };

    /** The lines of the box of an attempt with these changes, without the answer in full. */
    async function verdictOf(changes: Partial<AttemptDetails>) {
      const { page } = await select({ attempts: [anAttempt(1, changes)] });
      const box = page.getByRole('region', { name: 'Answer of the app' });
      await box.waitFor();
      const all = await lines(box);
      return { box, page, shown: all.slice(0, all.indexOf('Answer in full')) };
    }

    it('a valid delivery that the app refused shows once that the app has to accept it, why it does not, and the fix', async () => {
      const { box, page, shown } = await verdictOf(refused);
      expect(shown).toEqual([
        '401 signature_mismatch',
        'The signature is valid, so the app has to accept this delivery.',
        'Your app has another secret. Compare them.',
      ]);
      expect(await box.getAttribute('class')).toBe('answer-box failed');
      expect(await box.locator('.verdict').getAttribute('class')).toBe('verdict failed');
      expect(await page.getByText(advice.message).count()).toBe(1);
      expect(await page.getByText(advice.fix).count()).toBe(1);
    });

    it('a refused delivery that cannot be verified shows the advice', async () => {
      const { shown } = await verdictOf({ ...refused, verdict: { verdict: 'unverified', causes: [] } });
      expect(shown).toEqual([
        '401 signature_mismatch',
        'Not verified: the secret of this endpoint is not known here.',
        'Your app has another secret. Compare them.',
      ]);
    });

    it('a forged delivery that the app refused shows the causes, and not the advice', async () => {
      const { box, shown } = await verdictOf({ ...refused, verdict: forged });
      expect(shown).toEqual([
        '401 signature_mismatch',
        'Verification fails: signature_mismatch',
        'body_reserialised (certain): The body differs. Verify the bytes that came.',
      ]);
      expect(await box.getByRole('listitem').count()).toBe(1);
    });

    it('a forged delivery that the app accepted says that verification fails', async () => {
      const { box, shown } = await verdictOf({ verdict: forged });
      expect(shown).toEqual([
        '200: acknowledged',
        'The app accepted it, although verification fails: signature_mismatch',
        'body_reserialised (certain): The body differs. Verify the bytes that came.',
      ]);
      expect(await box.locator('.verdict').getAttribute('class')).toBe('verdict failed');
    });

    it('a valid delivery without an answer does not say that the app has to accept it', async () => {
      const { page } = await select({
        attempts: [anAttempt(1, { acknowledged: false, status: undefined, answer: undefined, problem: 'reset' })],
      });
      const box = page.getByRole('region', { name: 'Answer of the app' });
      await box.waitFor();
      expect(await lines(box)).toEqual(['No answer that counts: reset', 'The signature is valid.']);
    });

    it.each([
      [
        'a valid delivery',
        { verdict: 'accepted', causes: [] },
        ['No answer that counts', 'The signature is valid.', '[::1]:3000: nothing listens there. Start the app.'],
      ],
      [
        'a forged delivery',
        forged,
        [
          'No answer that counts: nothing listens there',
          'Verification fails: signature_mismatch',
          'body_reserialised (certain): The body differs. Verify the bytes that came.',
        ],
      ],
    ] as const)('the reason for a missing answer to %s is shown once', async (_, verdict, shown) => {
      const missing = { acknowledged: false, status: undefined, answer: undefined, problem: 'nothing listens there' };
      const why = { cause: 'no_answer', message: '[::1]:3000: nothing listens there.', fix: 'Start the app.' } as const;
      const { box } = await verdictOf({ ...missing, advice: why, verdict });
      expect(await lines(box)).toEqual(shown);
    });

    it('the page of another app that answers 200 has the advice', async () => {
      const { shown } = await verdictOf({
        advice: { cause: 'web_page', message: 'Another app answers here.', fix: 'Name the port.' },
      });
      expect(shown).toEqual([
        '200: acknowledged',
        'The signature is valid.',
        'Another app answers here. Name the port.',
      ]);
    });
  });

  describe('a body', () => {
    /** The body of a request, as it is shown, what is said of it, and whether it can be indented. */
    async function shownOf(text: string, view: Partial<AttemptDetails['request']['body']> = {}) {
      const body = { text, bytes: text.length, shown: 'text' as const, cut: false, ...view };
      const { page } = await select({ attempts: [anAttempt(1, { request: { ...anAttempt(1).request, body } })] });
      await article(page).waitFor();
      const box = article(page).getByLabel('Body of the request');
      const indent = article(page).getByLabel('indented').last();
      return { box, indent, note: article(page).locator('.body .note').last() };
    }

    it('JSON is indented, and shown as it came if wanted', async () => {
      const { box, indent } = await shownOf('{"a": [1, "b: {,}\\" "]}');
      expect(await box.inputValue()).toBe('{\n  "a": [\n    1,\n    "b: {,}\\" "\n  ]\n}');
      expect(await indent.isChecked()).toBe(true);
      await indent.uncheck();
      await expect.poll(() => box.inputValue()).toBe('{"a": [1, "b: {,}\\" "]}');
    });

    it.each([
      ['is no JSON', 'not found'],
      ['has a number that would be another', '{"id":12345678901234567890}'],
      ['has a name twice', '{"a":1,"a":2}'],
      ['has a text that would be written in another way', '{"a":"\\u002f"}'],
    ])('a text that %s is shown as it came', async (_, text) => {
      const { box, indent } = await shownOf(text);
      expect(await box.inputValue()).toBe(text);
      expect(await indent.count()).toBe(0);
    });

    it('bytes that are not UTF-8 are shown in hex', async () => {
      const { note, indent } = await shownOf('12', { bytes: 1, shown: 'hex' });
      expect(await note.innerText()).toBe('1 byte, not UTF-8: shown in hex');
      expect(await indent.count()).toBe(0);
    });

    it('a long text is cut, and says so', async () => {
      const { note, indent } = await shownOf('1', { bytes: 70_000, cut: true });
      expect(await note.innerText()).toBe('70,000 bytes: only the beginning is shown');
      expect(await indent.count()).toBe(0);
    });
  });

  describe('the schedule', () => {
    const waits = [30_000, 120_000, 14_400_000];
    /** The stations of each round, as they are read. */
    const rounds = (page: Page) =>
      page.locator('.timeline').evaluateAll((lists) =>
        lists.map((list) =>
          [...list.children].map((station) => {
            const button = station.querySelector('button')?.getAttribute('aria-label');
            const wait = station.querySelector('.wait')?.textContent;
            const note = station.querySelector('.note')?.textContent;
            return [station.className, wait, button, note].filter((part) => part !== undefined).join(' | ');
          }),
        ),
      );

    it('a refused attempt is followed by the times of the next ones', async () => {
      const now = Date.UTC(2026, 6, 11, 12);
      const failed = anAttempt(1, { acknowledged: false, status: 500 });
      const { page, source } = await select({
        row: { state: 'waiting' },
        details: { delivery: aRow(1, { state: 'waiting', nextAt: now + 29_001 }), waits },
        attempts: [failed],
      });
      expect(await rounds(page)).toEqual([
        [
          'failed | Attempt 1: 500, failed | 12:01:00Z',
          'next | 30 s | Attempt 2: in 30 s',
          'later | 2 min | Attempt 3: from 12:02:29Z',
          'later | 4 h | Attempt 4: from 16:02:29Z',
        ],
      ]);
      expect(await page.locator('.timelines h3').allInnerTexts()).toEqual(['Attempts']);
      expect(await page.locator('.aside').count()).toBe(0);
      source.oversee({ now: now + 29_001 });
      await page.getByText('Attempt 2: due').waitFor();
    });

    it('longer waits are longer lines', async () => {
      const { page } = await select({ details: { waits }, row: { state: 'waiting' } });
      const widths = await page
        .locator('.timeline li')
        .evaluateAll((stations) => stations.map((station) => station.getBoundingClientRect().width));
      expect([...widths].sort((a, b) => a - b)).toEqual(widths);
      expect(new Set(widths).size).toBe(4);
      expect(widths[0]).toBe(58);
    });

    it('stations say what is under way, not sent and not kept', async () => {
      const { page, source } = await select({
        details: { delivery: aRow(1, { state: 'sending', attempts: 1 }), waits: [30_000] },
        attempts: [],
      });
      expect(await rounds(page)).toEqual([['sending | Attempt 1: being sent', 'later | 30 s | Attempt 2: ']]);
      expect(await article(page).count()).toBe(0);

      source.detail('dlv_1', { delivery: aRow(1, { state: 'waiting' }), waits: [30_000] }, anAttempt(1));
      source.put(aRow(1, { state: 'waiting' }));
      await page.getByText('not yet sent').waitFor();

      source.detail('dlv_1', { delivery: aRow(1, { attempts: 2 }), waits: [30_000, 60_000] }, anAttempt(2));
      source.put(aRow(1, { attempts: 2 }));
      await page.getByText('Attempt 1: no longer kept').waitFor();
      expect((await rounds(page))[0]).toEqual([
        'not-kept | Attempt 1: no longer kept',
        'acknowledged | 30 s | Attempt 2: 200, acknowledged | 12:02:00Z',
      ]);
    });

    it('a delivered delivery has no attempts that are never made', async () => {
      const { page } = await select({
        row: { attempts: 2 },
        details: { waits },
        attempts: [anAttempt(1, { acknowledged: false, status: 500 }), anAttempt(2)],
      });
      expect((await rounds(page))[0]).toEqual([
        'failed | Attempt 1: 500, failed | 12:01:00Z',
        'acknowledged | 30 s | Attempt 2: 200, acknowledged | 12:02:00Z',
      ]);
    });

    it('each redelivery is a round with its heading', async () => {
      const { page, source } = await select({
        details: { delivery: aRow(1, { redeliveries: 1 }), waits: [30_000] },
        attempts: [
          anAttempt(1, { acknowledged: false, status: 500 }),
          anAttempt(1, { id: 'att_again', redelivery: 1 }),
        ],
      });
      const headings = page.locator('.timelines h3');
      expect(await headings.allInnerTexts()).toEqual(['Attempts', 'Started again']);
      expect((await rounds(page)).map(([first]) => first?.slice(0, 6))).toEqual(['failed', 'acknow']);
      source.detail('dlv_1', { delivery: aRow(1, { redeliveries: 2 }) });
      source.put(aRow(1, { redeliveries: 2 }));
      await expect.poll(() => headings.allInnerTexts()).toEqual(['Attempts', 'Started again, 1', 'Started again, 2']);
    });

    it('duplicates and replays are listed outside of the rounds', async () => {
      const { page } = await select({
        attempts: [
          anAttempt(1),
          anAttempt(1, { id: 'att_twice', kind: 'duplicate', recognised: true }),
          anAttempt(1, { id: 'att_hand', kind: 'replay', acknowledged: false, status: 409 }),
        ],
      });
      const aside = page.getByRole('list', { name: 'Outside the schedule' }).getByRole('listitem');
      expect(await aside.allInnerTexts()).toEqual([
        expect.stringMatching(/^200\s+attempt 1, duplicate, recognised by the app$/),
        expect.stringMatching(/^409\s+sent from this page$/),
      ]);
      expect(await aside.evaluateAll((items) => items.map((item) => item.className))).toEqual([
        'acknowledged',
        'failed',
      ]);
      await page.getByRole('heading', { name: 'Attempt 1, sent again from this page' }).waitFor();
      await aside.getByRole('button', { name: '200' }).click();
      await page.getByRole('heading', { name: 'Attempt 1, a duplicate' }).waitFor();
    });
  });

  describe('the actions', () => {
    const primary = (page: Page) => section(page).locator('.actions .primary');
    /** The texts of the menu, each with its hint. */
    async function menu(page: Page) {
      await section(page).getByRole('button', { name: 'More' }).click();
      const items = page.getByRole('menuitem');
      const texts = (await items.allInnerTexts()).map((text) => text.split(/\s*\n\s*/));
      return { items, texts };
    }
    /** A page whose actions say what they were asked for. */
    async function offering(
      offers: DeliveryDetails['offers'],
      names = ['redeliver', 'replay'] as const,
      cannotSign?: string,
    ) {
      const asked: unknown[] = [];
      const ask = async (input: unknown) => {
        asked.push(input);
        return 'It is done.';
      };
      const actions = Object.fromEntries(names.map((name) => [name, ask]));
      return { ...(await select({ details: { offers, cannotSign }, actions })), asked };
    }

    it('the retries of a dead delivery can be started again', async () => {
      const { page, asked } = await offering(['redeliver', 'replay']);
      expect(await primary(page).allInnerTexts()).toEqual(['Start its retries again']);
      await primary(page).click();
      await page.getByText('It is done.').waitFor();
      expect(asked).toEqual([{ delivery: 'dlv_1' }]);
      expect((await menu(page)).texts.map(([label]) => label)).toEqual(['Send again', 'Send again unchanged']);
    });

    it('a delivery can be sent again, and in the menu unchanged', async () => {
      const { page, asked } = await offering(['replay']);
      expect(await primary(page).allInnerTexts()).toEqual(['Send again']);
      await primary(page).click();
      await expect.poll(() => asked).toEqual([{ delivery: 'dlv_1', exact: false }]);
      const { items, texts } = await menu(page);
      expect(texts).toEqual([
        ['Start its retries again', 'Only for a dead or lost delivery.'],
        ['Send again unchanged', 'once, with the old signature, which apps accept for 300 s'],
      ]);
      expect(await items.first().getAttribute('aria-disabled')).toBe('true');
      await items.nth(1).click();
      await expect.poll(() => asked.slice(1)).toEqual([{ delivery: 'dlv_1', exact: true }]);
    });

    it('a request that cannot be signed says why, and can be sent unchanged', async () => {
      const cannotSign = 'your secret has not signed it';
      const { page, asked } = await offering(['replay'], undefined, cannotSign);
      expect(await primary(page).innerText()).toBe('Send again unchanged');
      await page.getByText(`Not signed again: ${cannotSign}.`).waitFor();
      const { items, texts } = await menu(page);
      expect(texts[1]).toEqual(['Send again', `Not signed again: ${cannotSign}.`]);
      await items.nth(1).click({ force: true });
      await primary(page).click();
      await expect.poll(() => asked).toEqual([{ delivery: 'dlv_1', exact: true }]);
    });

    it('a source without these actions has no buttons', async () => {
      const { page } = await select({ details: { offers: ['redeliver', 'replay'] } });
      expect(await section(page).locator('.actions').count()).toBe(0);
    });
  });
});
