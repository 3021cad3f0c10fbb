import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { chromium } from '../../../../../test/integration/chromium.js';
import { anAttempt, aRow, memorySource } from '../memory-source.js';
import { deliveries, section, useBrowser } from './use-browser.js';

describe.skipIf(chromium === undefined)('the comparison of two attempts', () => {
  const { open } = useBrowser();
  const textOf = (text: string) => ({ text, bytes: text.length, shown: 'text', cut: false }) as const;
  const comparison = (page: Page) => page.getByRole('article', { name: 'Comparison of two attempts' });
  const pairs = async (page: Page, name: string) => {
    const items = comparison(page).getByRole('list', { name, exact: true }).getByRole('listitem');
    return (await items.allInnerTexts()).map((text) => text.split(/\s*\n\s*/));
  };

  async function compare(options = {}) {
    const source = memorySource();
    source.put(aRow(1, { attempts: 2, hasFailed: true }));
    const headers = [['x-same', 's'] as const, ['X-Only', 'o'] as const];
    const first = anAttempt(1, {
      ...{ acknowledged: false, status: 401, code: 'signature_mismatch' },
      request: { ...anAttempt(1).request, headers, body: textOf('{"a":1,"b":[1],"c":3}') },
      answer: { status: 401, headers: [], body: textOf('no') },
    });
    const second = anAttempt(2, {
      request: { ...anAttempt(1).request, headers: [['x-same', 's']], body: textOf('{"a":1,"b":[2],"c":3}') },
      answer: { status: 200, headers: [], body: textOf('no') },
    });
    source.detail('dlv_1', {}, first, second);
    const { page, url } = await open(source, options);
    await deliveries(page).first().click();
    await page.getByLabel('Compare with').selectOption('Attempt 1 · 401 · 12:01:00Z');
    await comparison(page).waitFor();
    return { page, url };
  }

  it('answers, headers and bodies are side by side, and what differs is marked', async () => {
    const { page } = await compare();
    expect(await comparison(page).getByRole('heading', { level: 3 }).allInnerTexts()).toEqual([
      expect.stringMatching(/^Attempt 1\s+2026-07-11 12:01:00Z$/),
      expect.stringMatching(/^Attempt 2\s+2026-07-11 12:02:00Z$/),
    ]);
    expect(await pairs(page, 'Answer')).toEqual([
      ['result', 'failed', 'acknowledged'],
      ['status', '401', '200'],
      ['code', 'signature_mismatch', 'none'],
    ]);
    expect(await pairs(page, 'Headers of the request')).toEqual([['x-only', 'o', 'none']]);
    const lines = comparison(page).getByRole('list', { name: 'Body of the request' }).getByRole('listitem');
    expect(await lines.evaluateAll((items) => items.map(({ className }) => className))).toEqual([
      ...['pair', 'pair', 'pair differs', 'pair', 'pair'],
    ]);
    expect(await lines.nth(2).innerText()).toMatch(/4\s+1\s+2/);
    const body = comparison(page).getByRole('region', { name: 'Body of the answer' });
    expect(await body.innerText()).toMatch(/the same\s+The same 2 bytes\./);
    await comparison(page).getByText('1 is the same').last().click();
    expect(await pairs(page, 'Headers of the request, the same')).toEqual([['x-same', 's', 's']]);
  });

  it('a link leads to a comparison, and another attempt ends it', async () => {
    const { page } = await compare();
    await expect.poll(() => page.evaluate(() => location.hash)).toBe('#delivery=dlv_1&attempt=att_2&with=att_1');
    await page.reload();
    await comparison(page).waitFor();
    await page.getByRole('button', { name: 'Attempt 1: 401' }).click();
    await page.getByRole('article', { name: 'Attempt 1' }).waitFor();
    expect(await comparison(page).count()).toBe(0);
  });

  it.each([
    ['of white space alone', { bytes: 9, text: '{"a": 1}\n' }, 'differs Only white space differs.'],
    ['none', {}, 'the same The same 7 bytes.'],
    [
      'behind what is shown',
      { cut: true, bytes: 300_000 },
      'differs The beginning is the same, and the rest is not compared.',
    ],
  ])('a body with a difference %s says so', async (_, changes, expected) => {
    const source = memorySource();
    source.put(aRow(1, { attempts: 2 }));
    const { request } = anAttempt(1);
    const body = textOf('{"a":1}');
    const first = anAttempt(1, { request: { ...request, body } });
    source.detail('dlv_1', {}, first, anAttempt(2, { request: { ...request, body: { ...body, ...changes } } }));
    const { page } = await open(source);
    await deliveries(page).first().click();
    await page.getByLabel('Compare with').selectOption({ index: 1 });
    const said = comparison(page).getByRole('region', { name: 'Body of the request' });
    expect((await said.innerText()).replaceAll(/\s+/g, ' ')).toBe(`Body of the request ${expected}`);
  });

  it('the earlier attempt is on the left, also where the later one is chosen', async () => {
    const { page } = await compare();
    await page.getByRole('button', { name: 'Attempt 1: 401' }).click();
    await page.getByLabel('Compare with').selectOption({ index: 1 });
    await comparison(page).waitFor();
    expect(await comparison(page).getByRole('heading', { level: 3 }).first().innerText()).toContain('Attempt 1');
  });

  it('a delivery with one attempt has nothing to compare', async () => {
    const source = memorySource();
    source.put(aRow(1));
    source.detail('dlv_1', {}, anAttempt(1));
    const { page } = await open(source);
    await deliveries(page).first().click();
    await page.getByRole('article').waitFor();
    expect(await page.getByLabel('Compare with').count()).toBe(0);
  });

  it('an attempt that is no longer kept is said so', async () => {
    const { page, url } = await compare();
    await page.goto('about:blank');
    await page.goto(`${url}#delivery=dlv_1&attempt=att_2&with=att_gone`);
    await section(page).getByText('One of these attempts is no longer kept.').waitFor();
  });

  it('both sides fit on a phone', async () => {
    const { page } = await compare({ viewport: { width: 390, height: 844 } });
    expect(await section(page).evaluate((box) => box.scrollWidth)).toBe(390);
    const boxes = await comparison(page)
      .getByRole('listitem')
      .first()
      .locator('code')
      .evaluateAll((sides) => sides.map((side) => side.getBoundingClientRect()));
    expect(boxes).toHaveLength(2);
    expect(boxes[0]?.top).toBe(boxes[1]?.top);
    for (const box of boxes) expect(box.width).toBeGreaterThan(150);
  });
});
