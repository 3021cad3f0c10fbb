import { describe, expect, it, onTestFinished } from 'vitest';
import { exchange, toBytes } from '../../../../../test/support/raw-http.js';
import { serveDev } from '../../../src/commands/dev/start-dev.js';
import { queueView } from '../../../src/queues/view/queue-view.js';
import { aLetter, memoryQueue } from '../../page/memory-queue.js';
import { memorySource } from '../../page/memory-source.js';

const ASSETS = { script: Buffer.from('// script'), style: Buffer.of() };

/** The page and what `api` answers, until the test ends. */
async function served(api: (request: Request) => Promise<Response>) {
  const { url, close } = await serveDev(memorySource(), api, 0, { assets: ASSETS });
  onTestFinished(close);
  return url;
}

describe('the server of dev, with the page and the API on one port', () => {
  it('the page answers requests for its paths, and all others reach the API unchanged', async () => {
    const asked: Request[] = [];
    const url = await served(async (request) => {
      asked.push(request);
      const headers = { 'x-own': 'a', 'retry-after': '7' };
      return new Response(`got ${await request.text()}`, { status: 202, headers });
    });
    expect(await (await fetch(`${url}/page/page.js`)).text()).toBe('// script');
    const init = { method: 'PATCH', headers: { 'x-key': 'k' }, body: 'this' };
    const answer = await fetch(`${url}/api/v1/usage?a=%20`, init);
    expect({ status: answer.status, text: await answer.text() }).toEqual({ status: 202, text: 'got this' });
    expect(Object.fromEntries(answer.headers)).toMatchObject({ 'x-own': 'a', 'retry-after': '7' });
    const [{ method, url: askedUrl, headers }] = asked as [Request];
    expect([method, askedUrl, headers.get('x-key')]).toEqual(['PATCH', `${url}/api/v1/usage?a=%20`, 'k']);
    expect(asked).toHaveLength(1);
  });

  it('a queue of the project has a view of its own next to the deliveries', async () => {
    const queue = queueView(memoryQueue([aLetter(1)]).placed);
    const { url, close } = await serveDev(memorySource(), async () => new Response('here'), 0, {
      assets: ASSETS,
      queue,
    });
    onTestFinished(async () => {
      await close();
      await queue.close();
    });
    expect(await (await fetch(`${url}/`)).text()).toContain('content="deliveries queue"');
    expect(await (await fetch(`${url}/page/queue`)).text()).toContain('src="/page/queue.js"');
    expect(await (await fetch(`${url}/page/queue/state`)).json()).toMatchObject({ stats: { dead: 1 } });
    expect(await (await fetch(`${url}/queue`)).text()).toBe('here');
  });

  it('the API gets both values of a header that came twice', async () => {
    const url = await served(async ({ headers }) => new Response(headers.get('x-key')));
    const port = Number(new URL(url).port);
    const headers = [['X-Key', 'a'], ['x-key', 'b']] as const; // biome-ignore format: one header
    const request = toBytes({ method: 'GET', path: '/api', host: `localhost:${port}`, headers, body: Buffer.of() });
    expect(await exchange(port, request)).toMatchObject({ status: 200, body: 'a, b' });
  });

  it.each([
    [421, { host: 'evil.example' }],
    [403, { origin: 'https://evil.example' }],
    [403, { origin: 'null' }],
    [403, { origin: 'http://localhost:5173' }],
    [403, { 'sec-fetch-site': 'cross-site' }],
  ])('the answer is %i to a request of another site: %j', async (status, headers) => {
    const asked: Request[] = [];
    const url = await served(async (request) => {
      asked.push(request);
      return new Response('here');
    });
    const { host = new URL(url).host, ...others } = headers as { host?: string };
    const request = { method: 'DELETE', path: '/api', host, body: Buffer.of() };
    const bytes = toBytes({ ...request, headers: Object.entries<string>(others) });
    const answer = await exchange(Number(new URL(url).port), bytes);
    expect([answer.status, JSON.parse(answer.body)]).toEqual([status, { error: expect.any(String) }]);
    expect(asked).toEqual([]);
  });

  it.each(['GET', 'HEAD'])('the API gets no body with a %s', async (method) => {
    const url = await served(async (request) => new Response(null, { headers: { 'x-body': String(request.body) } }));
    const { status, headers } = await fetch(`${url}/api`, { method });
    expect({ status, body: headers.get('x-body') }).toEqual({ status: 200, body: 'null' });
  });

  it('an answer of the API may have no body', async () => {
    const url = await served(async () => new Response(null, { status: 204 }));
    expect((await fetch(`${url}/api`, { method: 'DELETE' })).status).toBe(204);
  });

  it('a connection is closed where the API fails, and the next is answered', async () => {
    const url = await served(async ({ method }) => {
      if (method === 'GET') return new Response('here');
      throw new Error('no answer');
    });
    await expect(fetch(`${url}/api`, { method: 'DELETE' })).rejects.toThrow('fetch failed');
    expect(await (await fetch(`${url}/api`)).text()).toBe('here');
  });

  it('both are there on the loopback interface alone, until they are closed', async () => {
    const { url, close } = await serveDev(memorySource(), async () => new Response('here'), 0, { assets: ASSETS });
    expect(await (await fetch(`${url}/api`)).text()).toBe('here');
    await expect(fetch(url.replace('127.0.0.1', '127.0.0.2'))).rejects.toThrow();
    const stream = await fetch(`${url}/page/stream`);
    await close();
    await stream.text().catch(() => {}); // it has ended, in one way or the other
    await expect(fetch(`${url}/api`)).rejects.toThrow();
  });
});
