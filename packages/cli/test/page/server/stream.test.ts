import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createPage } from '../../../src/page/server/page-server.js';
import { openStream } from '../../../src/page/server/stream.js';
import { aRow, memorySource } from '../memory-source.js';
import { served } from '../served.js';

interface Heard {
  event: string;
  data: { deliveries: { id: string; state: string }[]; removed?: string[]; run?: string };
}

/** Listens as a browser does, from now on until the test ends. */
async function listen(url: string) {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const { body, status } = await fetch(`${url}page/stream`, { signal: stop.signal });
  if (body === null || status !== 200) throw new Error('no stream');
  const events = read(body.pipeThrough(new TextDecoderStream()));
  const next = async (): Promise<Heard> => {
    const { value, done } = await events.next();
    if (done) throw new Error('it has ended');
    return value;
  };
  return { next, stop: () => stop.abort() };
}

async function* read(chunks: AsyncIterable<string>): AsyncGenerator<Heard> {
  let text = '';
  for await (const chunk of chunks) {
    text += chunk;
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const [, event, data] = /^event: (.*)\ndata: (.*)$/.exec(text.slice(0, end)) ?? [];
      text = text.slice(end + 2);
      if (event !== undefined && data !== undefined) yield { event, data: JSON.parse(data) };
    }
  }
}

it('a stream begins with a snapshot, and goes on with changes', async () => {
  const source = memorySource();
  source.put(aRow(1), aRow(2));
  const { next } = await listen((await served(source)).url);
  expect((await next()).data.deliveries.map(({ id }) => id)).toEqual(['dlv_1', 'dlv_2']);
  source.put(aRow(3));
  expect(await next()).toMatchObject({ event: 'change', data: { deliveries: [{ id: 'dlv_3' }], removed: [] } });
  source.remove('dlv_1');
  expect(await next()).toMatchObject({ event: 'change', data: { deliveries: [], removed: ['dlv_1'] } });
  source.remove('dlv_2');
  source.put(aRow(2));
  expect(await next()).toMatchObject({ event: 'change', data: { deliveries: [{ id: 'dlv_2' }], removed: [] } });
});

it('changes at one moment come together, with the last state of each delivery', async () => {
  const source = memorySource();
  const { next } = await listen((await served(source)).url);
  await next();
  source.put(aRow(1, { state: 'sending' }), aRow(2), aRow(3));
  source.put(aRow(1, { state: 'delivered' }));
  source.remove('dlv_2');
  const { data } = await next();
  expect(data.deliveries.map(({ id, state }) => [id, state])).toEqual([
    ['dlv_3', 'delivered'],
    ['dlv_1', 'delivered'],
  ]);
  expect(data.removed).toEqual(['dlv_2']);
});

it('a new stream begins with a snapshot again, so that nothing is missed', async () => {
  const source = memorySource();
  const { url } = await served(source);
  const first = await listen(url);
  const { data } = await first.next();
  first.stop();
  source.put(aRow(1));
  const second = await listen(url);
  const again = await second.next();
  expect(again).toMatchObject({ event: 'snapshot', data: { run: data.run, deliveries: [{ id: 'dlv_1' }] } });
});

it('10,000 deliveries are sent once, and then one row for one change', async () => {
  const source = memorySource();
  source.put(...Array.from({ length: 10_000 }, (_, n) => aRow(n)));
  const { next } = await listen((await served(source)).url);
  expect((await next()).data.deliveries).toHaveLength(10_000);
  source.put(aRow(5_000, { state: 'dead' }));
  expect((await next()).data.deliveries).toHaveLength(1);
});

it('the 65th stream is refused, until another one ends', async () => {
  const { url } = await served(memorySource());
  const listeners = await Promise.all(Array.from({ length: 64 }, () => listen(url)));
  const refused = await fetch(`${url}page/stream`);
  expect([refused.status, await refused.json()]).toEqual([503, { error: 'Too many windows are open.' }]);
  listeners[0]?.stop();
  await expect.poll(async () => (await listen(url).catch(() => undefined)) !== undefined).toBe(true);
});

it('a stream ends with the page, and the server goes on', async () => {
  const page = createPage(memorySource(), { script: Buffer.of(), style: Buffer.of() });
  const server = createServer((req, res) => void (page.handle(req, res) || res.end('mine')));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close().closeAllConnections());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const { next } = await listen(url);
  await next();
  page.close();
  await expect(next()).rejects.toThrow('it has ended');
  expect(await (await fetch(`${url}mine`)).text()).toBe('mine');
});

/** A stream to a browser that reads when it is told to, and what has been written of it. */
function opened(source = memorySource()) {
  vi.useFakeTimers();
  const written: string[] = [];
  let reads = false;
  let read = () => {};
  const browser = new Writable({
    highWaterMark: 1,
    write(chunk, _, done) {
      written.push(String(chunk));
      read = done;
      if (reads) done();
    },
  });
  const writeHead = vi.fn();
  const close = openStream(Object.assign(browser, { writeHead }) as unknown as ServerResponse, source, 'run_1');
  const readAll = async () => {
    reads = true;
    read();
    await vi.advanceTimersByTimeAsync(100);
    return written;
  };
  return { source, browser, writeHead, close, readAll };
}

it('a stream begins with the retry delay, and its snapshot names the actions', async () => {
  const { writeHead, readAll } = opened(memorySource({ send: async () => '' }));
  expect(writeHead).toHaveBeenCalledWith(200, { 'content-type': 'text/event-stream' });
  const [retry, snapshot = ''] = await readAll();
  expect(retry).toBe('retry: 1000\n\n');
  const [, data = ''] = /^event: snapshot\ndata: (.*)\n\n$/.exec(snapshot) ?? [];
  expect(JSON.parse(data)).toMatchObject({ run: 'run_1', title: 'Deliveries of a test', offers: ['send'] });
});

it('a stream without changes gets a comment every 15 s', async () => {
  const { readAll } = opened();
  const written = await readAll();
  const before = written.length;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(written.slice(before)).toEqual([':\n\n', ':\n\n']);
});

it('a closed stream leaves no timer and no listener behind', async () => {
  for (const end of ['here', 'there']) {
    const { source, browser, close, readAll } = opened();
    const written = await readAll();
    source.put(aRow(1));
    if (end === 'here') close();
    else browser.destroy();
    await vi.advanceTimersByTimeAsync(0);
    const before = written.length;
    source.put(aRow(2));
    expect(vi.getTimerCount(), end).toBe(0);
    expect([written.length, browser.writable], end).toEqual([before, false]);
  }
});

it('a browser that does not read has one row of each delivery waiting', async () => {
  const { source, browser, readAll } = opened();
  const before = browser.writableLength;
  for (let n = 0; n < 100; n++) {
    source.put(aRow(1, { attempts: n }), aRow(2, { attempts: n }));
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(browser.writableLength).toBe(before);
  const written = await readAll();
  browser.emit('drain'); // with nothing left to write
  await vi.advanceTimersByTimeAsync(100);
  const changes = written.filter((text) => text.startsWith('event: change'));
  expect(changes.map((text) => text.match(/"attempts":99/g))).toEqual([['"attempts":99', '"attempts":99']]);
});
