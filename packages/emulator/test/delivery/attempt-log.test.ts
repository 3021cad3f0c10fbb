import { describe, expect, it } from 'vitest';
import { type Attempt, createAttemptLog } from '../../src/delivery/attempt-log.js';

const KIB = 1024;

function attempt(seq: number, changes: Partial<Attempt> = {}): Attempt {
  return {
    seq,
    deliveryId: `dlv_${seq}`,
    endpointId: 'wh_a',
    eventId: `evt_${seq}`,
    type: 'stt.completed',
    number: 1,
    redelivery: 0,
    duplicate: false,
    at: 0,
    endedAt: 0,
    request: { method: 'POST', url: 'https://app.example/', headers: {}, body: new Uint8Array() },
    answer: undefined,
    outcome: 'failed',
    reason: 'timeout',
    error: undefined,
    faults: [],
    state: 'waiting',
    nextAt: undefined,
    ...changes,
  };
}

function create({ maxItems = 100, maxBytes = 1_000 * KIB } = {}) {
  const log = createAttemptLog({ maxItems, maxBytes });
  const add = (...seqs: number[]) => {
    for (const seq of seqs) log.add(attempt(seq));
  };
  const seqs = () => log.list().map(({ seq }) => seq);
  return { log, add, seqs };
}

describe('createAttemptLog', () => {
  it('the list has all attempts, or those that match each field of a filter', () => {
    const { log, seqs } = create();
    log.add(attempt(1, { deliveryId: 'dlv_a', endpointId: 'wh_a', eventId: 'evt_a' }));
    log.add(attempt(2, { deliveryId: 'dlv_b', endpointId: 'wh_b', eventId: 'evt_a' }));
    log.add(attempt(3, { deliveryId: 'dlv_c', endpointId: 'wh_a', eventId: 'evt_c' }));
    expect(seqs()).toEqual([1, 2, 3]);
    const found = (filter: Parameters<typeof log.list>[0]) => log.list(filter).map(({ seq }) => seq);
    expect(found({ deliveryId: 'dlv_b' })).toEqual([2]);
    expect(found({ endpointId: 'wh_a' })).toEqual([1, 3]);
    expect(found({ eventId: 'evt_a' })).toEqual([1, 2]);
    expect(found({ eventId: 'evt_a', endpointId: 'wh_a' })).toEqual([1]);
    expect(found({ eventId: 'evt_c', deliveryId: 'dlv_a' })).toEqual([]);
  });

  it('an attempt counts with its bodies and 2 KiB', () => {
    const { log, seqs } = create({ maxBytes: 10 * KIB });
    const request = { ...attempt(0).request, body: new Uint8Array(3 * KIB) };
    const answer = { status: 200, headers: {}, body: 'x'.repeat(KIB) };
    log.add(attempt(1, { request }));
    log.add(attempt(2, { answer }));
    log.add(attempt(3));
    expect(seqs()).toEqual([1, 2, 3]);
    log.add(attempt(4, { answer: { ...answer, body: '' } }));
    expect(seqs()).toEqual([2, 3, 4]);
  });

  it('the log forgets the attempts of one endpoint, or all', () => {
    const { log, seqs } = create();
    for (const [seq, endpointId] of ['wh_a', 'wh_b', 'wh_a'].entries()) log.add(attempt(seq + 1, { endpointId }));
    log.forget('wh_a');
    expect(seqs()).toEqual([2]);
    log.forget();
    expect(seqs()).toEqual([]);
  });
});

describe('the iterator of an attempt log', () => {
  const iterate = (log: AsyncIterable<Attempt>) => {
    const iterator = log[Symbol.asyncIterator]();
    return { next: async () => (await iterator.next()).value?.seq as number | undefined };
  };
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  it('the iterator yields the kept attempts and then each new one', async () => {
    const { log, add } = create();
    add(1, 2, 3);
    const { next } = iterate(log);
    expect([await next(), await next(), await next()]).toEqual([1, 2, 3]);
    const fourth = next();
    add(4, 5);
    expect([await fourth, await next()]).toEqual([4, 5]);
  });

  it('the iterator continues after its last attempt although that and more were dropped', async () => {
    const { log, add } = create({ maxItems: 3 });
    add(1, 2, 3);
    const { next } = iterate(log);
    expect(await next()).toBe(1);
    add(4);
    expect(await next()).toBe(2);
    add(5, 6, 7);
    expect([await next(), await next(), await next()]).toEqual([5, 6, 7]);
  });

  it('the iterator continues after its last attempt although later ones were forgotten', async () => {
    const { log, add } = create();
    add(1, 2);
    log.add(attempt(3, { endpointId: 'wh_b' }));
    const { next } = iterate(log);
    expect(await next()).toBe(1);
    log.forget('wh_a');
    expect(await next()).toBe(3);
    log.forget('wh_a');
    add(4);
    expect(await next()).toBe(4);
  });

  it('the iterator restarts after the log was emptied, because seq may restart', async () => {
    const { log, add } = create();
    add(1, 2);
    const { next } = iterate(log);
    expect([await next(), await next()]).toEqual([1, 2]);
    log.forget();
    add(1);
    expect(await next()).toBe(1);
    const second = next();
    add(2);
    expect(await second).toBe(2);
  });

  it('the iterator yields the rest after the log is closed, and ends', async () => {
    const { log, add } = create();
    add(1, 2);
    const { next } = iterate(log);
    log.close();
    expect([await next(), await next(), await next()]).toEqual([1, 2, undefined]);
  });

  it('a waiting iterator ends when the log is closed', async () => {
    const { log } = create();
    const [one, two] = [iterate(log).next(), iterate(log).next()];
    await turn();
    log.close();
    expect([await one, await two]).toEqual([undefined, undefined]);
  });
});
