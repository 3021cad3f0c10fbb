import { describe, expect, it } from 'vitest';
import type { AttemptText, PageSource } from '../../../src/page/page-source.js';
import { search } from '../../../src/page/server/search.js';
import { anAttempt, aRow, memorySource } from '../memory-source.js';
import { served } from '../served.js';

const { signal } = new AbortController();
const textOf = (text: string) => ({ text, bytes: text.length, shown: 'text', cut: false }) as const;

/** A source with two deliveries; the first has these texts in its attempts. */
function withTexts(...texts: AttemptText['text'][]): PageSource {
  const source = memorySource();
  source.put(aRow(1), aRow(2, { type: 'dubbing.failed' }));
  return { ...source, attemptTexts: () => texts.map((text) => ({ delivery: 'dlv_1', text })) };
}

describe('the search in what is kept', () => {
  const request = {
    ...anAttempt(1).request,
    headers: [['x-tenant', 'Blue'] as const],
    body: textOf('{"song":"Ärger"}'),
  };
  const answer = { status: 401, headers: [['x-trace', 'tr_77'] as const], body: textOf('no such tenant') };

  it.each([
    ['a body', 'ärger'],
    ['a value of a header', 'BLUE'],
    ['an earlier answer', 'no such'],
    ['a header of an answer', 'tr_77'],
    ['the row and several attempts', 'evt_1 ärger tr_77'],
    ['the address of the endpoint and a body', '127.0.0.1:3000 song'],
  ])('words in %s find the delivery', async (_, query) => {
    const source = memorySource();
    source.put(aRow(1), aRow(2));
    source.detail('dlv_1', {}, anAttempt(1, { request, answer }), anAttempt(2));
    expect(await search(source, query, signal)).toEqual(['dlv_1']);
  });

  it('every word must be in the same delivery', async () => {
    const source = withTexts('noise');
    expect(await search(source, 'noise dubbing', signal)).toEqual([]);
    expect(await search(source, 'noise', signal)).toEqual(['dlv_1']);
    expect(await search(source, 'dubbing', signal)).toEqual(['dlv_2']);
  });

  it('bytes of any kind are searched as text', async () => {
    const bytes = new Uint8Array([0xff, 0xfe, ...Buffer.from('xxNoisexx')]);
    expect(await search(withTexts(bytes.subarray(2, 9)), 'noise', signal)).toEqual(['dlv_1']);
    expect(await search(withTexts(bytes), 'noise', signal)).toEqual(['dlv_1']);
  });

  it('a body is searched as far as the page shows it', async () => {
    const long = `${'x'.repeat(256 * 1024)}noise`;
    for (const text of [long, Buffer.from(long)]) expect(await search(withTexts(text), 'noise', signal)).toEqual([]);
  });

  it('an attempt of a delivery that is not listed finds nothing', async () => {
    const source = { ...withTexts(), attemptTexts: () => [{ delivery: 'dlv_gone', text: 'noise' }] };
    expect(await search(source, 'noise', signal)).toEqual([]);
  });

  it('a long search lets others have their turn, and ends when it is aborted', async () => {
    const stop = new AbortController();
    function* endless(): Iterable<AttemptText> {
      for (;;) yield { delivery: 'dlv_1', text: 'x'.repeat(10_000) };
    }
    setTimeout(() => stop.abort(), 0);
    expect(await search({ ...withTexts(), attemptTexts: endless }, 'noise', stop.signal)).toEqual([]);
  });
});

describe('a request that searches', () => {
  it('the answer has the ids of what is found', async () => {
    const { get } = await served(withTexts('a/b & c'));
    const { status, body } = await get(`/page/search/${encodeURIComponent('a/b &')}`);
    expect([status, JSON.parse(body)]).toEqual([200, { ids: ['dlv_1'] }]);
    expect((await get('/page/search/%E0%A4%A')).status).toBe(200);
  });

  it('another site, another method and a query that is too long are refused', async () => {
    const { get, request, own } = await served(withTexts('noise'));
    expect((await get('/page/search/noise', { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await get('/page/search/noise', { origin: 'https://evil.example' })).status).toBe(403);
    expect((await get('/page/search/noise', { host: 'evil.example' })).status).toBe(421);
    expect((await request('POST', '/page/search/noise', own)).status).toBe(405);
    expect((await get(`/page/search/${'x'.repeat(1_000)}`)).status).toBe(200);
    expect((await get(`/page/search/${'x'.repeat(1_001)}`)).status).toBe(414);
  });

  it('four searches run at the same time, and a further one is refused until one ends', async () => {
    let isOver = false;
    function* untilOver(): Iterable<AttemptText> {
      while (!isOver) yield { delivery: 'dlv_1', text: 'x'.repeat(10_000) };
    }
    const { get } = await served({ ...withTexts(), attemptTexts: untilOver });
    const running = Array.from({ length: 4 }, () => get('/page/search/noise'));
    await expect.poll(async () => (await get('/page/search/noise?fifth')).status).toBe(503);
    isOver = true;
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await get('/page/search/noise')).status).toBe(200);
  });
});
