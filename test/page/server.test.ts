import { describe, expect, it, vi } from 'vitest';
import type { Actions } from '../../src/page/page-source.js';
import { aRow, memorySource } from './memory-source.js';
import { served } from './served.js';

/** A page on which samples can be sent, and which of them were. */
async function withSend(send: Actions['send'] = async ({ type }) => `${type} is on its way.`) {
  const spy = vi.fn(send);
  return { ...(await served(memorySource({ send: spy }))), sent: spy };
}

describe('the page', () => {
  it('is a document, a script, a style sheet and an icon', async () => {
    const { get } = await withSend();
    const types = ['/', '/page/page.js', '/page/style.css', '/page/icon.svg'].map(async (path) => {
      const { status, headers } = await get(path);
      return [status, headers['content-type']?.split(';')[0]];
    });
    expect(await Promise.all(types)).toEqual([
      [200, 'text/html'],
      [200, 'text/javascript'],
      [200, 'text/css'],
      [200, 'image/svg+xml'],
    ]);
  });

  it('forbids every request to elsewhere, every inline script, and being framed', async () => {
    const { get } = await withSend();
    const { headers, body } = await get('/');
    const policy = headers['content-security-policy'] ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' });
    expect(headers).not.toHaveProperty('access-control-allow-origin');
    expect(body).not.toMatch(/https?:|<script>|style=/);
  });

  it('has a title that is no markup, whatever it is', async () => {
    const { get } = await served({ ...memorySource(), title: '</title><script>alert(1)</script>' });
    expect((await get('/')).body).not.toContain('<script>alert');
  });

  it('leaves other paths to whoever it is mounted beside, and answers 404 for what it does not have', async () => {
    const { get } = await withSend();
    for (const path of ['/page/', '/page/other', '/page/deliveries/dlv_none', '/page/attempts/%E0%A4%A', '/other']) {
      expect((await get(path)).status, path).toBe(404);
    }
  });

  it('gives the details of a delivery', async () => {
    const source = memorySource();
    source.put(aRow(1, { id: 'a/b c' }));
    const { get } = await served(source);
    const { status, body } = await get(`/page/deliveries/${encodeURIComponent('a/b c')}`);
    expect([status, JSON.parse(body).delivery.eventId]).toEqual([200, 'evt_1']);
  });
});

describe('a request that is not from the page', () => {
  it.each(['evil.example', 'evil.example:80', '127.0.0.1', '127.0.0.1:1', 'localhost.evil.example', ''])(
    'is refused under the host %j, which DNS may have moved here',
    async (host) => {
      const { get, act, sent } = await withSend();
      for (const path of ['/', '/page/stream', '/page/page.js']) expect((await get(path, { host })).status).toBe(421);
      expect((await act('send', { type: 'stt.completed' }, { host, origin: `http://${host}` })).status).toBe(421);
      expect(sent).not.toHaveBeenCalled();
    },
  );

  it('is answered under every name of the loopback interface', async () => {
    const { get, url } = await withSend();
    const { port } = new URL(url);
    for (const name of ['127.0.0.1', 'localhost', 'LOCALHOST', '[::1]']) {
      expect((await get('/', { host: `${name}:${port}` })).status, name).toBe(200);
    }
  });

  it.each(['https://evil.example', 'null', 'http://127.0.0.1:1', 'http://localhost', 'file://'])(
    'is refused with the origin %s, also with the token',
    async (origin) => {
      const { get, act, sent } = await withSend();
      expect((await act('send', { type: 'stt.completed' }, { origin })).status).toBe(403);
      expect((await get('/page/stream', { origin })).status).toBe(403);
      expect(sent).not.toHaveBeenCalled();
    },
  );

  it.each(['cross-site', 'same-site'])('is refused where the browser says that it is %s', async (site) => {
    const { get, act } = await withSend();
    const headers = { 'sec-fetch-site': site };
    expect((await get('/page/stream', headers)).status).toBe(403);
    expect((await get('/', { ...headers, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'iframe' })).status).toBe(403);
    expect((await act('send', { type: 'stt.completed' }, headers)).status).toBe(403);
    const link = { ...headers, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    expect((await get('/', link)).status).toBe(200);
  });

  it('does nothing without the token, without an origin, or with the token of another run', async () => {
    const { act, sent, token } = await withSend();
    const other = token.replaceAll(/[0-9a-f]/g, '0');
    for (const headers of [{ 'x-page-token': undefined }, { 'x-page-token': other }, { 'x-page-token': 'é' }]) {
      expect((await act('send', { type: 'stt.completed' }, headers)).status).toBe(403);
    }
    expect((await act('send', { type: 'stt.completed' }, { origin: undefined })).status).toBe(403);
    expect(sent).not.toHaveBeenCalled();
    expect((await act('send', { type: 'stt.completed' })).status).toBe(200);
  });

  it('does nothing with another method, and gets no leave to ask from elsewhere', async () => {
    const { request, get, sent } = await withSend();
    expect((await get('/page/actions/send')).status).toBe(405);
    for (const method of ['PUT', 'DELETE', 'OPTIONS', 'HEAD']) {
      const { headers } = await request(method, '/page/actions/send', { connection: 'close' }).catch(() => ({
        headers: {},
      }));
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
    expect(sent).not.toHaveBeenCalled();
  });
});

describe('an action', () => {
  it('says what it has done', async () => {
    const { act } = await withSend();
    const { status, body } = await act('send', { type: 'stt.completed' });
    expect([status, JSON.parse(body)]).toEqual([200, { done: 'stt.completed is on its way.' }]);
  });

  it.each([
    ['no object', 'send', null],
    ['another type of field', 'send', { type: { toString: 'x' } }],
    ['a field that is missing', 'send', {}],
    ['an action that this source has not', 'pause', { endpoint: 'wh_1' }],
  ])('is refused with a sentence for %s', async (_, name, input) => {
    const { act, sent } = await withSend();
    const { status, body } = await act(name, input);
    expect([status, JSON.parse(body).error]).toEqual([409, expect.stringMatching(/must be|cannot be done/)]);
    expect(sent).not.toHaveBeenCalled();
  });

  it.each(['constructor', '__proto__', 'toString', 'sends'])('%s is none', async (name) => {
    const { act } = await withSend();
    expect((await act(name, {})).status).toBe(404);
  });

  it('takes no more than it needs', async () => {
    const { act, sent } = await withSend();
    expect((await act('send', { type: 'x'.repeat(70_000) })).status).toBe(413);
    expect(sent).not.toHaveBeenCalled();
  });

  it('that goes wrong says so, and everything goes on', async () => {
    const { act, get } = await withSend(async () => {
      throw new Error('the disk is full');
    });
    const { status, body } = await act('send', { type: 'stt.completed' });
    expect([status, JSON.parse(body)]).toEqual([500, { error: 'the disk is full' }]);
    expect((await get('/')).status).toBe(200);
  });
});
