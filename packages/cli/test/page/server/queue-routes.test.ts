import { describe, expect, it, onTestFinished } from 'vitest';
import { digestOf } from '../../../src/queues/view/letter-index.js';
import { queueView } from '../../../src/queues/view/queue-view.js';
import { aLetter, type MemoryQueue, memoryQueue } from '../memory-queue.js';
import { memorySource } from '../memory-source.js';
import { served } from '../served.js';

/** The view of a queue alone. */
async function servedQueue(memory: MemoryQueue = memoryQueue([aLetter(1), aLetter(2)])) {
  const queue = queueView(memory.placed);
  onTestFinished(() => queue.close());
  const server = await served(undefined, undefined, { queue });
  const read = async (path: string) => JSON.parse((await server.get(path)).body);
  const post = (name: string, input: unknown, headers = {}) =>
    server.request('POST', `/page/queue/${name}`, { ...server.own, ...headers }, JSON.stringify(input));
  return { ...server, memory, read, post };
}

/** Of both letters. */
const digest = digestOf([aLetter(1), aLetter(2)].map((letter) => ({ ...letter, at: letter.diedAt })));
const READS = ['state', 'letters', 'jobs?state=waiting', 'letter?handle=1'];
const CHANGES = ['retry', 'discard', 'cancel', 'dismiss', 'refresh'];

describe('the server of a view of a queue', () => {
  it('the document has the script of the view, a token and no access to other machines', async () => {
    const { get, read } = await servedQueue();
    for (const path of ['/', '/page/queue']) {
      const { status, headers, body } = await get(path);
      expect([status, headers['x-frame-options']]).toEqual([200, 'DENY']);
      expect(headers['content-security-policy']).toContain("default-src 'none'");
      expect(body).toContain('src="/page/queue.js"');
      expect(body).toContain('<meta name="page-views" content="queue">');
      expect(body).toContain(`<meta name="page-run" content="${(await read('/page/queue/state')).run}">`);
    }
    const parts = ['queue.js', 'queue-style.css', 'style.css', 'icon.svg'].map((name) => get(`/page/${name}`));
    expect((await Promise.all(parts)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  it('there is nothing of deliveries, except with a source of deliveries', async () => {
    const { get } = await servedQueue();
    for (const path of ['/page/stream', '/page/page.js', '/page/deliveries/1'])
      expect((await get(path)).status).toBe(404);
    const queue = queueView(memoryQueue([]).placed);
    onTestFinished(() => queue.close());
    const both = await served(memorySource(), undefined, { queue });
    expect((await both.get('/')).body).toContain('src="/page/page.js"');
    expect((await both.get('/')).body).toContain('content="deliveries queue"');
    expect((await both.get('/page/queue')).body).toContain('src="/page/queue.js"');
    const without = await served(memorySource());
    for (const path of ['/page/queue', '/page/queue/state', '/page/queue.js'])
      expect((await without.get(path)).status).toBe(404);
  });

  it('the state, the letters, the jobs and a letter are read', async () => {
    const { read } = await servedQueue();
    expect(await read('/page/queue/state')).toMatchObject({ engine: 'memory', stats: { dead: 2 } });
    const { rows, total } = await read('/page/queue/letters?limit=1&offset=1');
    expect({ total, ids: rows.map(({ id }: { id: string }) => id) }).toEqual({ total: 2, ids: ['2'] });
    expect(await read('/page/queue/jobs?state=running')).toEqual({ rows: [], isCut: false });
    expect(await read(`/page/queue/letter?handle=${rows[0].handle}`)).toMatchObject({ id: '2', state: 'dead' });
  });

  it('letters are retried and discarded, and results are cancelled, dismissed and read again', async () => {
    const { read, post, memory } = await servedQueue();
    await read('/page/queue/state');
    const { rows } = await read('/page/queue/letters');
    expect(await post('retry', { letter: rows[0].handle })).toMatchObject({ status: 200 });
    expect(JSON.parse((await post('discard', { all: true, shown: 'of two' })).body).error).toMatch(
      /Another change|has changed/,
    );
    for (const [name, input] of Object.entries({ cancel: { operation: 1 }, dismiss: { operation: 1 }, refresh: {} }))
      expect((await post(name, input)).status).toBe(200);
    expect(memory.calls).toContain('retry 1');
  });

  it('the letters that are shown are discarded', async () => {
    const { read, post, memory } = await servedQueue();
    expect((await read('/page/queue/state')).listing.digest).toBe(digest);
    expect((await post('discard', { all: true, shown: digest })).status).toBe(200);
    await expect.poll(() => memory.letters).toEqual([]);
  });
});

describe('requests for a queue that are refused', () => {
  it.each([
    [421, { host: 'evil.example' }],
    [403, { origin: 'https://evil.example' }],
    [403, { 'sec-fetch-site': 'cross-site' }],
    [403, { 'sec-fetch-site': 'same-site' }],
  ])('%i for a request of another site: %j', async (status, headers) => {
    const { get, post, memory } = await servedQueue();
    for (const name of READS) expect((await get(`/page/queue/${name}`, headers)).status).toBe(status);
    for (const name of CHANGES) expect((await post(name, { all: true, shown: digest }, headers)).status).toBe(status);
    expect(memory.calls).toEqual([]);
  });

  it.each([
    ['no token', { 'x-page-token': undefined }],
    ['the token of another run', { 'x-page-token': crypto.randomUUID() + crypto.randomUUID() }],
    ['no Origin', { origin: undefined }],
  ])('403 for a change with %s', async (_, headers) => {
    const { read, post, memory } = await servedQueue();
    await read('/page/queue/state');
    for (const name of CHANGES) expect((await post(name, { all: true, shown: digest }, headers)).status).toBe(403);
    expect(memory.letters).toHaveLength(2);
  });

  it('405 for a change by GET and a read by POST, and 404 for a name that is none', async () => {
    const { get, post } = await servedQueue();
    for (const name of CHANGES) expect((await get(`/page/queue/${name}`)).status).toBe(405);
    for (const name of ['state', 'letters']) expect((await post(name, {})).status).toBe(405);
    for (const name of ['toString', '__proto__', 'nothing', '', 'state/1', '%2e%2e'])
      expect((await get(`/page/queue/${name}`)).status).toBe(404);
  });

  it.each([
    ['retry', {}],
    ['retry', { shown: digest }],
    ['retry', { all: true }],
    ['discard', { group: 'one', shown: 2 }],
    ['discard', { letters: 1, shown: digest }],
    ['discard', { letter: '1; DROP' }],
    ['discard', { all: true, shown: 'x'.repeat(1_001) }],
    ['discard', { all: 'true', shown: digest }],
    ['discard', { text: '', shown: digest }],
    ['discard', { group: { a: 1 }, shown: digest }],
    ['discard', { text: 'x'.repeat(1_001), shown: digest }],
    ['discard', [1]],
    ['cancel', { operation: 1e99 }],
  ])('400 for the change %s with %j', async (name, input) => {
    const { read, post, memory } = await servedQueue();
    await read('/page/queue/state');
    expect((await post(name, input)).status).toBe(400);
    expect(memory.letters).toHaveLength(2);
  });

  it('409 where the letters are not those that were shown, and 413 for a body that is too large', async () => {
    const { read, post, memory } = await servedQueue();
    await read('/page/queue/state');
    const { status, body } = await post('discard', { all: true, shown: 'others' });
    expect([status, JSON.parse(body).error]).toEqual([409, expect.stringContaining('The list has changed')]);
    expect((await post('discard', { all: true, shown: digest, more: 'x'.repeat(70_000) })).status).toBe(413);
    expect(memory.letters).toHaveLength(2);
  });

  it('502 with the cause where the engine does not answer', async () => {
    const memory = memoryQueue([aLetter(1)]);
    const { read, get } = await servedQueue(memory);
    await read('/page/queue/state');
    memory.problem = new Error('nats at 127.0.0.1:4222 does not answer');
    const { status, body } = await get('/page/queue/jobs?state=waiting');
    expect([status, JSON.parse(body)]).toEqual([502, { error: 'nats at 127.0.0.1:4222 does not answer' }]);
  });
});
