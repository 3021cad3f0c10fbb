import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { exchange, type RawResponse } from '../../../../../test/support/raw-http.js';
import type { Actions, AttemptDetails } from '../../../src/page/page-source.js';
import { servePage } from '../../../src/page/server/page-server.js';
import { anAttempt, aRow, memorySource } from '../memory-source.js';
import { served } from '../served.js';

/** A page on which samples can be sent, and which of them were. */
async function withSend(send: Actions['send'] = async ({ type }) => `${type} is on its way.`) {
  const spy = vi.fn(send);
  return { ...(await served(memorySource({ send: spy }))), sent: spy };
}

/** The status and the JSON of an answer. */
const inShort = ({ status, body }: RawResponse) => [status, JSON.parse(body)];
const refused = (status: number, words: string) => [status, { error: expect.stringContaining(words) }];

describe('the files and details of the page', () => {
  it('the document, script, style sheet and icon are served', async () => {
    const { get } = await withSend();
    const parts = ['/', '/page/page.js', '/page/style.css', '/page/icon.svg'].map(async (path) => {
      const { status, headers, body } = await get(path);
      return [status, headers['content-type'], body];
    });
    expect(await Promise.all(parts)).toEqual([
      [200, 'text/html; charset=utf-8', expect.stringMatching(/^<!doctype html>/)],
      [200, 'text/javascript; charset=utf-8', '// script'],
      [200, 'text/css; charset=utf-8', '/* style */'],
      [200, 'image/svg+xml', expect.stringMatching(/^<svg .+<\/svg>$/)],
    ]);
  });

  it('the Content-Security-Policy forbids other hosts, inline scripts and framing', async () => {
    const { get } = await withSend();
    const { headers, body } = await get('/');
    const policy = headers['content-security-policy'] ?? '';
    expect(policy.split('; ').sort()).toEqual([
      "base-uri 'none'",
      "connect-src 'self'",
      "default-src 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "img-src 'self'",
      "require-trusted-types-for 'script'",
      "script-src 'self'",
      "style-src 'self'",
      "trusted-types 'none'",
    ]);
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
      'cache-control': 'no-store',
    });
    expect(headers).not.toHaveProperty('access-control-allow-origin');
    expect(body).not.toMatch(/https?:|<script>|style=/);
  });

  it('a hostile title is no markup', async () => {
    const { get } = await served({ ...memorySource(), title: '</title><script>alert(1)</script>' });
    expect((await get('/')).body).toContain('<title>&#60;/title&#62;&#60;script&#62;alert(1)&#60;/script&#62;</title>');
  });

  it('unknown paths are left to other handlers, and unknown parts of the page are 404', async () => {
    const { get } = await withSend();
    for (const path of ['/other', '/other/page/page.js'])
      expect(await get(path)).toMatchObject({ status: 404, body: '' });
    for (const path of ['/page/', '/page/other', '/page/deliveries/dlv_none', '/page/attempts/%E0%A4%A']) {
      const answer = await get(path);
      expect(inShort(answer), path).toEqual(refused(404, 'It is not kept any more, or never was.'));
      expect(answer.headers['content-type']).toBe('application/json');
    }
  });

  it('a delivery and an attempt have their details', async () => {
    const source = { ...memorySource(), attempt: (id: string) => ({ id }) as AttemptDetails };
    source.put(aRow(1, { id: 'a/b c' }));
    const { get } = await served(source);
    const found = await get(`/page/deliveries/${encodeURIComponent('a/b c')}?again#top`);
    expect(inShort(found)).toMatchObject([200, { delivery: { eventId: 'evt_1' } }]);
    expect(JSON.parse((await get('/page/attempts/-1')).body)).toEqual({ id: '-1' });
    for (const path of ['/page/x/page/deliveries/a%2Fb%20c', '/page/deliveries', '/page/-/page/attempts/1']) {
      expect((await get(path)).status, path).toBe(404);
    }
  });

  it('an attempt can be exported as a file, a command and a test', async () => {
    const source = memorySource();
    source.detail('dlv_1', {}, anAttempt(1, { id: '7' }));
    const { get } = await served(source);
    for (const [form, beginning, name] of [
      ['http', /^POST \/webhooks HTTP\/1\.1\r\nx-try: 1\r\nContent-Length: 14\r\n\r\n\{"id":"evt_1"\}$/, '.http'],
      ['curl', /^curl -i -g --url 'http:\/\/127\.0\.0\.1:3000\/webhooks' -H 'x-try: 1' --data-raw/, '.sh'],
      ['test', /^import assert/, '.test.ts'],
    ] as const) {
      const { status, headers, body } = await get(`/page/${form}/7`);
      expect([status, headers['content-type']]).toEqual([200, 'application/octet-stream']);
      expect(body).toMatch(beginning);
      expect(headers['content-disposition']).toBe(`attachment; filename="20260711T120100.000Z-00000007${name}"`);
      expect(headers['content-security-policy']).toContain("default-src 'none'");
      expect((await get(`/page/${form}/8`)).status).toBe(404);
      expect((await get(`/page/${form}/7`, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    }
  });

  it('a request too long for a command is exported as a file alone', async () => {
    const source = memorySource();
    const text = 'x'.repeat(1024 * 1024 + 1);
    const { request } = anAttempt(1);
    const body = { text, bytes: text.length, shown: 'text', cut: false } as const;
    source.detail('dlv_1', {}, anAttempt(1, { id: '7', request: { ...request, body } }));
    const { get } = await served(source);
    expect(inShort(await get('/page/curl/7'))).toEqual(refused(413, 'download'));
    expect((await get('/page/http/7')).body.endsWith(text)).toBe(true);
  });

  it('each type of the service has a sample', async () => {
    const { get } = await withSend();
    const { json } = JSON.parse((await get('/page/samples/generation.completed')).body);
    const sample = { type: 'generation.completed', jobId: 'clip_sample', data: { clipId: 'clip_sample' } };
    expect(JSON.parse(json)).toMatchObject(sample);
    expect((await get('/page/samples/no.type')).status).toBe(404);
  });

  it('the page is still served after an error of its source', async () => {
    const delivery = () => {
      throw new Error('out of order');
    };
    const { get } = await served({ ...memorySource(), delivery });
    await expect(get('/page/deliveries/dlv_1')).rejects.toThrow();
    expect((await get('/')).status).toBe(200);
  });
});

describe('a request that is not from the page', () => {
  it.each(['evil.example', 'evil.example:80', '127.0.0.1', '127.0.0.1:1', 'localhost.evil.example', ''])(
    'the host %j, which DNS may have moved here, is refused',
    async (host) => {
      const { get, act, sent } = await withSend();
      for (const path of ['/', '/page/stream', '/page/page.js']) {
        expect(inShort(await get(path, { host }))).toEqual(refused(421, '127.0.0.1 or localhost'));
      }
      expect((await act('send', { type: 'stt.completed' }, { host, origin: `http://${host}` })).status).toBe(421);
      expect(sent).not.toHaveBeenCalled();
    },
  );

  it('HTTP/1.0 without a host is refused', async () => {
    const { url } = await withSend();
    const request = Buffer.from('GET / HTTP/1.0\r\n\r\n');
    expect((await exchange(Number(new URL(url).port), request)).status).toBe(421);
  });

  it('every name of the loopback interface is answered', async () => {
    const { get, act, url } = await withSend();
    const { port } = new URL(url);
    for (const name of ['127.0.0.1', 'localhost', 'LOCALHOST', '[::1]']) {
      const host = `${name}:${port}`;
      expect((await get('/', { host })).status, name).toBe(200);
      for (const origin of [`http://${host}`, `http://${host}`.toLowerCase()]) {
        expect((await act('send', { type: 'stt.completed' }, { host, origin })).status, name).toBe(200);
      }
    }
  });

  it.each(['https://evil.example', 'null', 'http://127.0.0.1:1', 'http://localhost', 'file://'])(
    'the origin %s is refused, even with the token',
    async (origin) => {
      const { get, act, sent } = await withSend();
      const answer = await act('send', { type: 'stt.completed' }, { origin });
      expect(inShort(answer)).toEqual(refused(403, 'Another site has no access.'));
      expect((await get('/page/stream', { origin })).status).toBe(403);
      expect(sent).not.toHaveBeenCalled();
    },
  );

  it.each(['cross-site', 'same-site'])(
    'a request with Sec-Fetch-Site %s is refused, except for a plain link',
    async (site) => {
      const { get, act } = await withSend();
      const headers = { 'sec-fetch-site': site };
      const link = { ...headers, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
      for (const [path, sent] of [
        ['/page/stream', headers],
        ['/page/stream', link],
        ['/', { ...link, 'sec-fetch-mode': 'no-cors' }],
        ['/', { ...link, 'sec-fetch-dest': 'iframe' }],
      ] as const) {
        expect(inShort(await get(path, sent))).toEqual(refused(403, 'Another site has no access.'));
      }
      expect((await act('send', { type: 'stt.completed' }, headers)).status).toBe(403);
      expect((await get('/', link)).status).toBe(200);
    },
  );

  it.each(['same-origin', 'none'])('a request with Sec-Fetch-Site %s is answered', async (site) => {
    const { get } = await withSend();
    expect((await get('/page/page.js', { 'sec-fetch-site': site })).status).toBe(200);
  });

  it('an action needs the token of this run and an origin', async () => {
    const { act, sent, token } = await withSend();
    const other = token.replaceAll(/[0-9a-f]/g, '0');
    const accented = 'é'.repeat(token.length / 2); // two bytes each on the way there, and two characters each on arrival
    for (const wrong of [undefined, '', other, `${token}0`, token.slice(1), 'é', accented]) {
      const answer = await act('send', { type: 'stt.completed' }, { 'x-page-token': wrong });
      expect(inShort(answer)).toEqual(refused(403, 'load it again'));
    }
    const answer = await act('send', { type: 'stt.completed' }, { origin: undefined });
    expect(inShort(answer)).toEqual(refused(403, 'no Origin'));
    expect(sent).not.toHaveBeenCalled();
    expect((await act('send', { type: 'stt.completed' })).status).toBe(200);
  });

  it('another method does nothing, and no CORS header is sent', async () => {
    const { request, get, own, sent } = await withSend();
    expect(inShort(await get('/page/actions/send'))).toEqual(refused(405, 'GET is not for /page/actions/send'));
    const elsewhere = ['/page/x/page/actions/send', '/page/actions/send/more', '/page/actions/', '/page/actions/-'];
    for (const path of ['/', ...elsewhere]) {
      const headers = { ...own, 'content-type': undefined };
      expect((await request('POST', path, headers, '{"type":"stt.completed"}')).status, path).toBe(405);
    }
    for (const method of ['PUT', 'DELETE', 'OPTIONS', 'HEAD']) {
      const { headers } = await request(method, '/page/actions/send', { connection: 'close' }).catch(() => ({
        headers: {},
      }));
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
    expect(sent).not.toHaveBeenCalled();
  });
});

describe('an action of the page', () => {
  it('the answer says what was done', async () => {
    const { act } = await withSend();
    const answer = await act('send', { type: 'stt.completed' });
    expect(inShort(answer)).toEqual([200, { done: 'stt.completed is on its way.' }]);
  });

  it.each<[what: string, name: string, json: string, problem: string]>([
    ['no object', 'send', 'null', 'the request must be a JSON object'],
    ['a text', 'send', '"stt.completed"', 'the request must be a JSON object'],
    ['half an object', 'send', '{"type":', 'the request must be a JSON object'],
    ['another type of field', 'send', '{"type":{"toString":"x"}}', 'type must be a string'],
    ['a field that is missing', 'redeliver', '{}', 'delivery must be a string'],
    ['a replay of nothing', 'replay', '{"exact":true}', 'delivery must be a string'],
    ['a replay of either kind', 'replay', '{"delivery":"dlv_1"}', 'exact must be a boolean'],
    ['a count in words', 'failNext', '{"count":"2"}', 'count must be a number'],
    ['an endpoint that is a number', 'pause', '{"endpoint":1}', 'endpoint must be a string'],
    ['no endpoint', 'enable', '{"endpoint":null}', 'endpoint must be a string'],
    ['an event that is not written out', 'emit', '{"event":{}}', 'event must be a string'],
    ['a time in words', 'advance', '{"ms":"1 h"}', 'ms must be a number'],
    ['an action that this source has not', 'pause', '{"endpoint":"wh_1"}', 'pause cannot be done here'],
  ])('%s is refused with a sentence', async (_, name, json, problem) => {
    const { request, own, sent } = await withSend();
    const answer = await request('POST', `/page/actions/${name}`, own, json);
    expect(inShort(answer)).toEqual([409, { error: `${problem}.` }]);
    expect(sent).not.toHaveBeenCalled();
  });

  it.each(['constructor', '__proto__', 'toString', 'sends'])('the name %s is no action', async (name) => {
    const { act } = await withSend();
    expect((await act(name, {})).status).toBe(404);
  });

  it('a body over 64 KiB is refused', async () => {
    const { act, sent } = await withSend();
    expect((await act('send', { type: 'x'.repeat(70_000) })).status).toBe(413);
    expect(sent).not.toHaveBeenCalled();
  });

  it.each([
    ['an error', 'the disk is full', new Error('the disk is full')],
    ['no error', 'the disk is full', 'the disk is full'],
    ['an error of the source', 'x', new Error('x')],
  ])('%s that is thrown answers 500, and the page goes on', async (_, problem, thrown) => {
    const { act, get } = await withSend(async () => {
      throw thrown;
    });
    expect(inShort(await act('send', { type: 'stt.completed' }))).toEqual([500, { error: problem }]);
    expect((await get('/')).status).toBe(200);
  });
});

const ASSETS = { script: Buffer.of(), style: Buffer.of() };

it('a served page listens on the loopback interface until it is closed', async () => {
  const { url, close } = await servePage(memorySource(), 0, { assets: ASSETS });
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
  expect((await fetch(url)).status).toBe(200);
  await expect(fetch(url.replace('127.0.0.1', '127.0.0.2'))).rejects.toThrow();
  const stream = await fetch(`${url}page/stream`);
  await close();
  await stream.text().catch(() => {}); // it has ended, in one way or the other
  await expect(fetch(url)).rejects.toThrow();
});

it('a page is not served on a taken port, or without its assets', async () => {
  const { url, close } = await servePage(memorySource(), 0, { assets: ASSETS });
  onTestFinished(close);
  await expect(servePage(memorySource(), Number(new URL(url).port), { assets: ASSETS })).rejects.toThrow('EADDRINUSE');
  await expect(servePage(memorySource(), 0)).rejects.toThrow(/page\.js|style\.css/);
});
