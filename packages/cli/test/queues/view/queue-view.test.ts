import type { FollowedState, UnopenedDelivery } from 'service-webhooks/queue';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { aQueued } from '../../../../../test/queue/queued.js';
import { later } from '../../../../../test/support/deliveries.js';
import { PATIENTLY } from '../../../../../test/support/patiently.js';
import type { ChangeKind, Listing, QueueSource, QueueState } from '../../../src/page/queue-source.js';
import type { OperatorsQueue } from '../../../src/queues/queue-engine.js';
import type { PlacedQueue } from '../../../src/queues/queue-options.js';
import { isShortOf } from '../../../src/queues/short-ids.js';
import { queueView } from '../../../src/queues/view/queue-view.js';
import { aLetter, type MemoryQueue, memoryQueue, T0 } from '../../page/memory-queue.js';

/** A view on a clock that the test moves, whose following waits for the test. */
function viewOf(memory: MemoryQueue) {
  let now = T0 + 3_600_000;
  let pass = later();
  const source = queueView(memory.placed, {
    now: () => now,
    pause: (_, signal) =>
      Promise.race([pass.promise, new Promise((_, reject) => signal.addEventListener('abort', reject))]),
  });
  const look = () => {
    const { resolve } = pass;
    pass = later();
    resolve();
  };
  onTestFinished(async () => {
    const closed = source.close();
    look();
    await closed;
  });
  return {
    source,
    /** Reads as a page does that is open for so long. */
    async after(ms: number): Promise<QueueState> {
      now += ms;
      await source.state();
      await new Promise(setImmediate); // the memory answers at once
      return source.state();
    },
    /** Ends the pauses: the following looks again, and a limit of time is over. */
    look,
  };
}

/** The place of a queue with other methods. */
async function withQueue(memory: MemoryQueue, change: (queue: OperatorsQueue) => OperatorsQueue): Promise<PlacedQueue> {
  const opened = await memory.placed.open();
  return { ...memory.placed, open: async () => ({ ...opened, queue: change(opened.queue) }) };
}

const all = { offset: 0, limit: 100 };
const ids = async (source: QueueSource, choice = {}) => (await source.letters(choice, all)).rows.map(({ id }) => id);
/** Changes letters as they are listed now. */
const change = async (source: QueueSource, kind: ChangeKind, choice = {}) =>
  source.change(kind, choice, (await source.letters(choice, all)).digest);
const settled = (source: QueueSource, phase: string) =>
  vi.waitUntil(async () => (await source.state()).operations[0]?.phase === phase, PATIENTLY);

describe('the list of dead letters', () => {
  it('letters are grouped by their reason, with their types and times', async () => {
    const failed = aQueued({ eventId: 'evt_3', type: 'stt.failed' });
    const { source } = viewOf(
      memoryQueue([
        aLetter(1),
        aLetter(2, { reason: 'no clip' }),
        aLetter(3, { reason: 'no user 17', delivery: failed }),
      ]),
    );
    const { stats, listing, name } = await source.state();
    expect({ stats, name }).toEqual({ stats: { depth: 0, oldestMs: 90_000, dead: 3 }, name: 'clips' });
    expect(listing).toMatchObject({ version: 1, letters: 3, isCut: false, others: { groups: 0, letters: 0 } });
    expect(listing.groups).toMatchObject([
      { reason: 'no clip', letters: 2, types: ['stt.completed'], oldest: T0 + 1_000, newest: T0 + 2_000 },
      { reason: 'no user 17', letters: 1, types: ['stt.failed'] },
    ]);
    expect(await ids(source, { group: listing.groups[0]?.id })).toEqual(['1', '2']);
  });

  it('a letter is read from the engine with its body, its stack and its times', async () => {
    const delivery = { ...aQueued({ eventId: 'evt_1' }), unsigned: { idempotencyKey: '"k"', attempt: 3 } };
    const { source } = viewOf(memoryQueue([aLetter(1, { delivery })]));
    await source.state();
    const [row] = (await source.letters({}, all)).rows;
    expect(await source.letter(row?.handle ?? 0)).toMatchObject({
      ...{ id: '1', state: 'dead', eventId: 'evt_1', endpoint: 'test', key: 'test:evt_1', scheme: 'v2', signedAt: 1 },
      ...{ attempts: 10, reason: 'no clip', stack: expect.stringContaining('app.ts') },
      receivedAt: expect.any(Number),
      unsigned: [
        ['Idempotency-Key', '"k"'],
        ['Attempt', '3'],
      ],
      body: { text: expect.stringContaining('"id":"evt_1"'), shown: 'text', cut: false },
    });
    expect(await source.letter(99)).toBeUndefined();
  });

  it('a letter whose body is not read has its event, its tenant and why, and a redacted field is nowhere', async () => {
    const unopened: UnopenedDelivery = {
      key: 'clips:tenant=acme:evt_1',
      why: 'The body of the job is encrypted, and encrypt is not set.',
      needs: 'encrypt',
    };
    const body = JSON.stringify({ id: 'evt_2', type: 'stt.failed', data: { email: 'bob@example.com' } });
    const delivery = { ...aQueued({ eventId: 'evt_2' }), body: Buffer.from(body).toString('base64') };
    const closed = { ...aLetter(1, { unopened }), delivery: undefined };
    const letters = [closed, aLetter(2, { delivery, reason: 'no user bob@example.com' })];
    const { source } = viewOf(memoryQueue(letters, { redact: ['data.email'] }));
    const { listing } = await source.state();
    expect(listing.groups.flatMap(({ types }) => types).toSorted()).toEqual(['body not shown', 'stt.failed']);
    const { rows } = await source.letters({}, all);
    const notShown = 'The body is encrypted: pass --decrypt.';
    expect(rows[0]).toMatchObject({ eventId: 'evt_1', tenant: 'acme', type: undefined, notShown });
    const details = await Promise.all(rows.map(({ handle }) => source.letter(handle)));
    expect(details).toMatchObject([
      { notShown, key: unopened.key, endpoint: 'clips', body: undefined },
      { reason: 'no user redacted', body: { text: expect.stringContaining('"email":"redacted"') } },
    ]);
    expect(JSON.stringify([listing, rows, details])).not.toContain('bob@');
    expect(await ids(source, { text: 'bob@example.com', bodies: true })).toEqual([]);
  });

  it('the engine is read at most every 1.5 s, and letters are listed again where their number differs', async () => {
    const memory = memoryQueue([aLetter(1)]);
    const { source, after } = viewOf(memory);
    await source.state();
    expect(memory.calls).toEqual(['stats', 'deadLetters 0+20']);
    await after(100);
    expect(memory.calls).toHaveLength(2);
    await after(2_000);
    expect(memory.calls).toEqual(['stats', 'deadLetters 0+20', 'stats']);
    memory.letters.push(aLetter(2));
    expect((await after(2_000)).listing).toMatchObject({ version: 2, letters: 2 });
  });

  it('letters that died again with a new reason are listed within 30 s, though their number is the same', async () => {
    const memory = memoryQueue([aLetter(1)]);
    const { source, after } = viewOf(memory);
    await source.state();
    memory.letters[0] = aLetter(1, { reason: 'another reason' });
    for (let s = 0; s < 28; s += 4) expect((await after(4_000)).listing.version).toBe(1);
    expect((await after(4_000)).listing).toMatchObject({ version: 2, groups: [{ reason: 'another reason' }] });
  });

  it('letters are listed again for a page that was away', async () => {
    const memory = memoryQueue([aLetter(1)]);
    const { source, after } = viewOf(memory);
    await source.state();
    memory.letters[0] = aLetter(1, { reason: 'another reason' });
    expect((await after(6_000)).listing).toMatchObject({ version: 2, groups: [{ reason: 'another reason' }] });
  });

  it('a listing of the same letters is not another version, so that pages do not read it again', async () => {
    const memory = memoryQueue([aLetter(1)]);
    const { source, after } = viewOf(memory);
    const { listing } = await source.state();
    source.refresh();
    const again = await after(2_000);
    expect(again.listing).toEqual({ ...listing, at: again.listing.at });
    expect(again.listing.at).toBeGreaterThan(listing.at ?? 0);
  });

  it('an engine whose letters are taken for a listing is not listed again within 10 s, except on request', async () => {
    const memory = memoryQueue([aLetter(1)], { hasNoPages: true });
    const { source, after } = viewOf(memory);
    await source.state();
    expect(memory.calls).toEqual(['stats', 'deadLetters 0+1000']);
    memory.letters.push(aLetter(2));
    expect((await after(5_000)).listing.letters).toBe(1);
    source.refresh();
    expect((await after(100)).listing.letters).toBe(2);
    memory.letters.push(aLetter(3));
    expect((await after(11_000)).listing.letters).toBe(3);
  });

  it('of 10,100 letters the oldest 10,000 are listed, and the bodies are not kept', async () => {
    const letters = Array.from({ length: 10_100 }, (_, n) => aLetter(n, { reason: `no clip ${n}` }));
    const { source } = viewOf(memoryQueue(letters));
    const { listing } = await source.state();
    expect(listing).toMatchObject({ letters: 10_000, isCut: true, groups: [{ reason: 'no clip …', letters: 10_000 }] });
    const { rows, total } = await source.letters({}, { offset: 9_999, limit: 100 });
    expect({ total, ids: rows.map(({ id }) => id) }).toEqual({ total: 10_000, ids: ['9999'] });
    expect(JSON.stringify(rows)).not.toContain('timestamp');
  });

  it('of 150 reasons the most frequent 100 are listed, with the number of the others', async () => {
    const words = Array.from({ length: 150 }, (_, n) => 'abcdefghij'[n % 10]?.repeat(1 + n / 10) ?? '');
    const { source } = viewOf(memoryQueue(words.map((reason, n) => aLetter(n, { reason }))));
    const { groups, others } = (await source.state()).listing;
    expect({ shown: groups.length, others }).toEqual({ shown: 100, others: { groups: 50, letters: 50 } });
  });

  it('a search finds ids, types, reasons and tenants, and bodies only where that is asked', async () => {
    const memory = memoryQueue([
      aLetter(1, { delivery: aQueued({ eventId: 'evt_1', jobId: 'needle' }) }),
      aLetter(2, { reason: 'Broken Needle' }),
      aLetter(3, { delivery: aQueued({ eventId: 'evt_3', tenant: 'needle' }) }),
      aLetter(4),
    ]);
    const { source } = viewOf(memory);
    await source.state();
    expect(await ids(source, { text: 'needle' })).toEqual(['2', '3']);
    expect(await ids(source, { text: 'broken needle' })).toEqual(['2']);
    const before = memory.calls.length;
    expect(await ids(source, { text: 'needle', bodies: true })).toEqual(['1', '2', '3']);
    await ids(source, { text: 'needle', bodies: true });
    expect(memory.calls.length).toBe(before + 1);
  });

  it('a search has the letters that are listed when the bodies were read', async () => {
    const memory = memoryQueue([aLetter(1, { reason: 'Broken Needle' })]);
    const { promise, resolve } = later();
    const gates: Promise<void>[] = [];
    const placed = await withQueue(memory, (queue) => ({
      ...queue,
      async deadLetters(page) {
        await gates.pop();
        return queue.deadLetters(page);
      },
    }));
    const { source, after } = viewOf({ ...memory, placed });
    await source.state();
    gates.push(promise);
    const found = source.letters({ text: 'needle', bodies: true }, all);
    await new Promise(setImmediate);
    memory.letters.push(aLetter(2, { reason: 'Another Needle' }));
    expect((await after(2_000)).listing.version).toBe(2);
    resolve();
    expect(await found).toMatchObject({ version: 2, total: 2 });
  });

  it('the shown ids tell letters apart, as the command queue show takes them', async () => {
    const keys = ['test%3Aevt_0123456789a', 'test%3Aevt_0123456789b'];
    const memory = memoryQueue(keys.map((id, n) => aLetter(n, { id })));
    memory.jobs.waiting = [{ ...aLetter(7, { id: 'test%3Aevt_0987654321' }), state: 'waiting', diedAt: undefined }];
    const { source } = viewOf(memory);
    await source.state();
    const { rows } = await source.letters({}, all);
    expect(rows.map(({ id, shortId }) => [id, shortId])).toEqual([
      [keys[0], 'evt_0123456789a'],
      [keys[1], 'evt_0123456789b'],
    ]);
    expect(rows.map(({ id, shortId }) => isShortOf(shortId, id))).toEqual([true, true]);
    expect(await source.letter(rows[1]?.handle ?? 0)).toMatchObject({ shortId: 'evt_0123456789b' });
    const waiting = await source.jobs('waiting');
    expect(waiting.rows).toMatchObject([{ shortId: 'evt_0987' }]);
    expect(await source.letter(waiting.rows[0]?.handle ?? 0)).toMatchObject({ shortId: 'evt_0987' });
  });

  it('jobs that wait are listed and shown, up to 100', async () => {
    const memory = memoryQueue([]);
    memory.jobs.waiting = Array.from({ length: 120 }, (_, n) => ({
      ...aLetter(n),
      state: 'waiting' as const,
      queuedAt: T0 + n,
      diedAt: undefined,
    }));
    const { source } = viewOf(memory);
    const { rows, isCut } = await source.jobs('waiting');
    expect({ rows: rows.length, isCut }).toEqual({ rows: 100, isCut: true });
    expect(rows[0]).toMatchObject({ id: '0', eventId: 'evt_0', at: T0 });
    expect(await source.letter(rows[1]?.handle ?? 0)).toMatchObject({ state: 'waiting', id: '1' });
    expect((await source.jobs('waiting')).rows[0]?.handle).toBe(rows[0]?.handle);
  });

  it('a state that the engine does not list is refused with the reason', async () => {
    const { source } = viewOf(memoryQueue([], { unlisted: { running: 'it does not say' } }));
    expect((await source.state()).unlisted).toEqual({ waiting: undefined, running: 'it does not say' });
    await expect(source.jobs('running')).rejects.toThrow('memory cannot list jobs that are running: it does not say.');
  });
});

describe('a change of dead letters', () => {
  it('a retried group says which letters are handled, dead again and still waiting', async () => {
    const memory = memoryQueue([1, 2, 3, 4].map((n) => aLetter(n, n === 4 ? { reason: 'other' } : {})));
    const outcomes: Record<string, FollowedState> = { 1: 'done', 2: 'dead' };
    memory.outcome = ({ id }) => outcomes[id] ?? 'pending';
    const { source, after, look } = viewOf(memory);
    const { groups } = (await source.state()).listing;
    expect(await source.change('retry', { group: groups[0]?.id }, groups[0]?.digest)).toBe('Retrying 3 dead letters.');
    await settled(source, 'following');
    look();
    await vi.waitUntil(async () => (await source.state()).operations[0]?.dead === 1, PATIENTLY);
    const { operations } = await after(2_000);
    expect(operations).toMatchObject([
      {
        ...{ kind: 'retry', phase: 'following', total: 3, changed: 3, gone: 0, isFollowed: true },
        ...{ handled: 1, waiting: 1, dead: 1, deadAgain: [{ id: '2+', eventId: 'evt_2', reason: 'still no clip' }] },
      },
    ]);
    memory.outcome = () => 'done';
    look();
    await settled(source, 'ended');
    const ended = await after(2_000);
    expect(ended.operations).toMatchObject([{ phase: 'ended', handled: 2, waiting: 0, dead: 1, problem: undefined }]);
    expect(await ids(source)).toEqual(['4', '2+']);
    source.dismiss(ended.operations[0]?.id ?? 0);
    expect((await source.state()).operations).toEqual([]);
  });

  it('a letter that is dead again keeps its handle, so that the page shows its new reason', async () => {
    const memory = memoryQueue([aLetter(1)]);
    memory.outcome = () => 'dead';
    const { source, after } = viewOf(memory);
    await source.state();
    const [row] = (await source.letters({}, all)).rows;
    await source.change('retry', { letter: row?.handle });
    await settled(source, 'ended');
    await after(2_000);
    expect(await source.letter(row?.handle ?? 0)).toMatchObject({ id: '1+', reason: 'still no clip' });
  });

  it('discarded letters are deleted, and one that is gone is counted', async () => {
    const memory = memoryQueue([aLetter(1), aLetter(2), aLetter(3)]);
    const { source, after } = viewOf(memory);
    const { digest } = (await source.state()).listing;
    memory.letters.shift();
    await source.change('discard', {}, digest);
    await settled(source, 'ended');
    const { operations, listing } = await after(2_000);
    expect(operations).toMatchObject([{ kind: 'discard', phase: 'ended', changed: 2, gone: 1, isFollowed: false }]);
    expect([memory.letters, listing.letters]).toEqual([[], 0]);
  });

  it.each([
    ['all letters', 4, () => ({})],
    ['a group', 4, ({ groups }: Listing) => ({ group: groups[0]?.id })],
    ['a search', 4, () => ({ text: 'clip' })],
    ['more than 1,000 letters', 1_200, () => ({})],
  ])('a change of %s is refused where as many others are listed now', async (_, count, choiceOf) => {
    const memory = memoryQueue(Array.from({ length: count }, (_, n) => aLetter(n)));
    const { source, after } = viewOf(memory);
    const choice = choiceOf((await source.state()).listing);
    const { digest } = await source.letters(choice, all);
    memory.letters.shift();
    source.refresh();
    await after(2_000);
    memory.letters.push(aLetter(count));
    source.refresh();
    await after(2_000);
    await expect(source.change('discard', choice, digest)).rejects.toThrow('Nothing was changed');
    expect(memory.letters).toHaveLength(count);
  });

  it('a change is not refused where the same letters are listed again in another order', async () => {
    const memory = memoryQueue([aLetter(1), aLetter(2)]);
    const { source, after } = viewOf(memory);
    const { digest } = (await source.state()).listing;
    memory.letters.reverse();
    source.refresh();
    expect((await after(2_000)).listing.version).toBe(2);
    expect(await source.change('discard', {}, digest)).toBe('Discarding 2 dead letters.');
  });

  it('a change is refused while another one runs', async () => {
    const memory = memoryQueue([aLetter(1), aLetter(2)]);
    const { promise, resolve } = later();
    memory.gate = promise;
    const { source } = viewOf(memory);
    await source.state();
    await change(source, 'discard');
    await expect(change(source, 'retry')).rejects.toThrow('Another change runs');
    resolve();
    await settled(source, 'ended');
  });

  it('a cancelled change leaves the rest as it was', async () => {
    const memory = memoryQueue([aLetter(1), aLetter(2), aLetter(3)]);
    const { promise, resolve } = later();
    memory.gate = promise;
    const { source } = viewOf(memory);
    await source.state();
    await change(source, 'discard');
    source.cancel((await source.state()).operations[0]?.id ?? 0);
    resolve();
    await settled(source, 'ended');
    expect((await source.state()).operations).toMatchObject([{ changed: 1, isCancelled: true }]);
    expect(memory.letters.map(({ id }) => id)).toEqual(['2', '3']);
  });

  it('a letter that died again behind those that are listed is not said to be gone', async () => {
    const memory = memoryQueue(Array.from({ length: 10_001 }, (_, n) => aLetter(n)));
    memory.outcome = () => 'dead';
    const { source, after } = viewOf(memory);
    await source.state();
    const [row] = (await source.letters({}, all)).rows;
    await source.change('retry', { letter: row?.handle });
    await settled(source, 'ended');
    await after(2_000);
    await expect(source.letter(row?.handle ?? 0)).rejects.toThrow('behind the oldest 10000 dead letters');
    expect(await source.letter(99_999)).toBeUndefined();
  });

  it('1,000 letters are changed at a time', async () => {
    const memory = memoryQueue(Array.from({ length: 1_200 }, (_, n) => aLetter(n)));
    const { source } = viewOf(memory);
    await source.state();
    await change(source, 'discard');
    await settled(source, 'ended');
    expect(memory.letters).toHaveLength(200);
  });

  it('an engine that does not follow retried letters says only that they are retried', async () => {
    const memory = memoryQueue([aLetter(1)]);
    const opened = await memory.placed.open();
    const { retryAndFollow, ...queue } = opened.queue;
    const { source } = viewOf({ ...memory, placed: { ...memory.placed, open: async () => ({ ...opened, queue }) } });
    await source.state();
    await change(source, 'retry');
    await vi.waitUntil(async () => (await source.state()).operations[0]?.changed === 1, PATIENTLY);
    expect((await source.state()).operations).toMatchObject([{ changed: 1, isFollowed: false, waiting: 0 }]);
    expect(retryAndFollow).toBeDefined();
  });
});

describe('an engine that does not answer', () => {
  it('the problem is said with its cause, and the queue is opened again until it answers', async () => {
    const memory = memoryQueue([aLetter(1)]);
    const { source, after } = viewOf(memory);
    await source.state();
    memory.problem = new Error('bullmq at localhost does not answer: ECONNREFUSED');
    expect(await after(2_000)).toMatchObject({ problem: memory.problem.message, stats: { dead: 1 } });
    expect([memory.opened, memory.closed]).toEqual([1, 1]);
    memory.problem = undefined;
    expect((await after(2_000)).problem).toBeUndefined();
    expect(memory.opened).toBe(2);
  });

  it('a call that has not returned for 5 s is a problem before it fails', async () => {
    const memory = memoryQueue([aLetter(1)]);
    const { promise, resolve } = later();
    let isSilent = false;
    const placed = await withQueue(memory, (queue) => ({
      ...queue,
      async stats() {
        if (isSilent) await promise;
        return queue.stats();
      },
    }));
    const { source, after } = viewOf({ ...memory, placed });
    await source.state();
    isSilent = true;
    expect((await after(2_000)).problem).toBeUndefined();
    expect((await after(4_900)).problem).toBeUndefined();
    expect((await after(100)).problem).toBe('memory at 127.0.0.1 has not answered for 5 s or longer.');
    isSilent = false;
    resolve();
    expect((await after(2_000)).problem).toBeUndefined();
  });

  it('the first page of an engine that is silent waits no longer than 5 s', async () => {
    const memory = memoryQueue([]);
    memory.placed.open = () => new Promise(() => {});
    const { source, look, after } = viewOf(memory);
    const first = source.state();
    look();
    expect((await first).stats).toBeUndefined();
    expect((await after(5_000)).problem).toContain('has not answered for 5 s');
  });

  it('a queue that is being opened is closed without waiting for it, and closed once it is open', async () => {
    const memory = memoryQueue([]);
    const opened = await memory.placed.open();
    const { promise, resolve } = later<typeof opened>();
    memory.placed.open = () => promise;
    const { source, look } = viewOf(memory);
    const state = source.state();
    const closing = source.close();
    look();
    await Promise.all([closing, state]);
    expect(memory.closed).toBe(0);
    resolve(opened);
    await vi.waitUntil(() => memory.closed === 1, PATIENTLY);
  });

  it('a failed reading leaves the connection to a change that runs, and closes it after that', async () => {
    const memory = memoryQueue([aLetter(1)]);
    memory.outcome = () => 'pending';
    const { source, after, look } = viewOf(memory);
    await source.state();
    await change(source, 'retry');
    await settled(source, 'following');
    memory.failing = 'stats';
    memory.problem = new Error('no answer');
    await vi.waitUntil(async () => (await after(2_000)).problem === 'no answer', PATIENTLY);
    expect((await source.state()).operations).toMatchObject([{ waiting: 1 }]);
    expect(memory.closed).toBe(0);
    memory.outcome = () => 'done';
    look();
    await settled(source, 'ended');
    expect((await after(2_000)).operations).toMatchObject([{ handled: 1, waiting: 0, problem: undefined }]);
    expect(memory.closed).toBe(1);
  });

  it('a queue that cannot be closed is opened again all the same', async () => {
    const memory = memoryQueue([], { close: () => Promise.reject(new Error('closed already')) });
    const { source, after } = viewOf(memory);
    await source.state();
    memory.problem = new Error('no answer');
    expect((await after(2_000)).problem).toBe('no answer');
    memory.problem = undefined;
    expect((await after(2_000)).problem).toBeUndefined();
    expect(memory.opened).toBe(2);
  });

  it('a listing that was wanted and failed is tried again', async () => {
    const memory = memoryQueue([aLetter(1)]);
    const { source, after } = viewOf(memory);
    await source.state();
    memory.letters[0] = aLetter(1, { reason: 'another reason' });
    memory.failing = 'deadLetters';
    memory.problem = new Error('no answer');
    source.refresh();
    expect(await after(100)).toMatchObject({ problem: 'no answer', listing: { version: 1, isReading: false } });
    memory.problem = undefined;
    const { listing } = await after(2_000);
    expect(listing).toMatchObject({ version: 2, groups: [{ reason: 'another reason' }] });
  });

  it('a listing that is wanted does not make the engine be asked more often while it does not answer', async () => {
    const memory = memoryQueue([aLetter(1)]);
    memory.problem = new Error('no answer');
    const { source, after } = viewOf(memory);
    await source.state();
    for (let n = 0; n < 5; n += 1) await after(100);
    expect(memory.calls).toEqual(['stats']);
    source.refresh();
    await after(0);
    expect(memory.calls).toEqual(['stats', 'stats']);
  });

  it('a change ends with the cause, and says how far it was', async () => {
    const memory = memoryQueue([aLetter(1), aLetter(2)]);
    const { source } = viewOf(memory);
    await source.state();
    memory.problem = new Error('no answer');
    await change(source, 'discard');
    await settled(source, 'ended');
    expect((await source.state()).operations).toMatchObject([{ changed: 0, problem: 'no answer' }]);
  });
});

describe('hostile letters', () => {
  it('a job that is no delivery, wrong values and control characters are shown safely', async () => {
    const hostile = {
      ...aQueued({ eventId: 'evt_\u202e<b>\u0000', tenant: 'a\u0007' }),
      receivedAt: 1e99,
      signedAt: 'yesterday',
      unsigned: { toString: { a: 1 }, webhookId: '\u001b[2J', long: 'x'.repeat(5_000) },
    };
    const memory = memoryQueue([
      aLetter(1, { id: '\u001b[31m\ud800', delivery: undefined, diedAt: 9e15, reason: '\u0000'.repeat(50) }),
      aLetter(2, { delivery: hostile as never, reason: 'r'.repeat(100_000), stack: '\u009b1m\n'.repeat(10_000) }),
    ]);
    const { source } = viewOf(memory);
    const { listing } = await source.state();
    const { rows } = await source.letters({}, all);
    const details = await Promise.all(rows.map(({ handle }) => source.letter(handle)));
    const text = JSON.stringify([listing, rows, details.map((one) => ({ ...one, body: undefined }))]);
    expect(text).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
    expect(text.length).toBeLessThan(60_000);
    expect(rows[0]).toMatchObject({ id: '\\u001b[31m\\ud800', at: undefined, type: undefined });
    expect(details[1]).toMatchObject({ receivedAt: undefined, signedAt: undefined });
    await source.change('discard', { letter: rows[0]?.handle });
    await settled(source, 'ended');
    expect(memory.letters.map(({ id }) => id)).toEqual(['2']);
  });
});
