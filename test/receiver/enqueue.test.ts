import { type DeliveryQueue, memoryStore } from 'service-webhooks';
import { describe, expect, it, vi } from 'vitest';
import { aReceiver, aRequest, aStore, inShort, later, never, refusal } from '../support/deliveries.js';
import { memoryQueue } from '../support/memory-queue.js';
import { PATIENTLY } from '../support/patiently.js';

const receiverOf = (queue: DeliveryQueue, options = {}) => aReceiver({ on: undefined, queue, ...options });
const queueOf = (put: DeliveryQueue['put'], more: Partial<DeliveryQueue> = {}) => ({ name: 'clips', put, ...more });
const away = async () => Promise.reject(new Error('the queue is away'));

describe('a receiver with a queue', () => {
  it('a receiver with a queue answers 202 queued once the queue has the delivery, and 202 known after that', async () => {
    const queue = memoryQueue({ name: 'clips' });
    const { receiver, outcomes } = receiverOf(queue);
    expect(inShort(await receiver(aRequest()))).toBe('202 queued');
    expect(inShort(await receiver(aRequest()))).toBe('202 known');
    expect(outcomes).toMatchObject([
      { kind: 'queued', delivery: { event: { id: 'evt_1' } } },
      { kind: 'known', delivery: { event: { id: 'evt_1' } } },
    ]);
    expect([...queue.jobs.keys()]).toEqual(['clips:evt_1']);
  });

  it('a receiver with a queue does not answer before the queue has confirmed the delivery', async () => {
    const confirmed = later<'queued'>();
    const { receiver } = receiverOf(queueOf(() => confirmed.promise));
    let answer = 'none';
    const answered = receiver(aRequest()).then((response) => {
      answer = inShort(response);
    });
    await vi.waitFor(() => expect(answer).toBe('none'), PATIENTLY);
    confirmed.resolve('queued');
    await answered;
    expect(answer).toBe('202 queued');
  });

  it('a receiver with a queue puts the exact bytes, what was verified, and the headers that no signature covers', async () => {
    const put = vi.fn<DeliveryQueue['put']>(async () => 'queued');
    const { receiver } = receiverOf(queueOf(put));
    const request = aRequest({ headers: { 'idempotency-key': 'a key' } });
    await receiver(request);
    expect(put.mock.lastCall?.[0]).toMatchObject({
      v: 1,
      key: 'clips:evt_1',
      body: Buffer.from(request.body as string).toString('base64'),
      scheme: 'v2',
      secretIndex: 0,
      unsigned: { idempotencyKey: 'a key' },
    });
  });

  it('a receiver with a queue hashes an awkward event id in the key', async () => {
    const queue = memoryQueue({ name: 'clips' });
    await receiverOf(queue).receiver(aRequest({ event: { id: 'evt_é日' } }));
    expect([...queue.jobs.keys()]).toEqual([expect.stringMatching(/^clips:sha256:[0-9a-f]{64}$/)]);
  });

  it.each<[string, () => unknown]>([
    ['rejects', away],
    ['throws', () => JSON.parse('')],
    ['resolves to nothing', async () => undefined],
    ['resolves to something else', async () => 'ok'],
    ['does not answer before the deadline', never],
  ])('a receiver with a queue answers 503 where the put %s, and takes the retry', async (_, put) => {
    const inner = memoryQueue();
    const puts = vi.fn<DeliveryQueue['put']>(put as DeliveryQueue['put']);
    const { receiver, find } = receiverOf(queueOf(puts), { deadlineMs: 1_000 });
    const response = await receiver(aRequest());
    expect(inShort(response)).toBe('503 queue_unavailable');
    expect(response.headers).toMatchObject({ 'retry-after': '30' });
    expect(find('failed').error).toMatchObject({ code: 'queue_unavailable', cause: expect.any(Error) });
    puts.mockImplementation(inner.put);
    expect(inShort(await receiver(aRequest()))).toBe('202 queued');
  });

  it('a receiver with a queue initialises the queue once before the first put', async () => {
    const init = vi.fn(async () => {});
    const { receiver } = receiverOf(queueOf(async () => 'queued', { init }));
    await Promise.all([receiver(aRequest()), receiver(aRequest()), receiver(aRequest())]);
    expect(init).toHaveBeenCalledTimes(1);
  });

  it('a receiver with a queue initialises the queue again after a failure, with nothing acknowledged before that', async () => {
    const init = vi.fn(async () => {}).mockRejectedValueOnce(new Error('no table'));
    const put = vi.fn<DeliveryQueue['put']>(async () => 'queued');
    const { receiver } = receiverOf(queueOf(put, { init }));
    expect(inShort(await receiver(aRequest()))).toBe('503 queue_unavailable');
    expect(put).not.toHaveBeenCalled();
    expect(inShort(await receiver(aRequest()))).toBe('202 queued');
    expect(init).toHaveBeenCalledTimes(2);
  });

  it('a receiver with a queue claims no key without dedupe, so that the queue alone knows an event', async () => {
    const queue = memoryQueue({ name: 'clips' });
    const { receiver } = receiverOf(queue);
    await receiver(aRequest());
    queue.jobs.clear();
    expect(inShort(await receiver(aRequest()))).toBe('202 queued');
  });

  it('a receiver with a queue claims the key first where a store is given, and completes it after the put', async () => {
    const store = aStore({}, memoryStore());
    const queue = memoryQueue({ name: 'clips' });
    const { receiver } = receiverOf(queue, { dedupe: { store, name: 'clips' } });
    expect(inShort(await receiver(aRequest()))).toBe('202 queued');
    expect(store.calls).toEqual(['claim', 'complete']);
    expect(inShort(await receiver(aRequest()))).toBe('200 duplicate');
  });

  it('a receiver with a queue releases the claim where the put fails', async () => {
    const store = aStore({}, memoryStore());
    const { receiver } = receiverOf(queueOf(away), { dedupe: { store, name: 'clips' } });
    expect(inShort(await receiver(aRequest()))).toBe('503 queue_unavailable');
    expect(store.calls).toEqual(['claim', 'release']);
  });

  it('a receiver with a queue queues every type of event, also one that is unknown', async () => {
    const queue = memoryQueue();
    const { receiver } = receiverOf(queue);
    expect(inShort(await receiver(aRequest({ event: { type: 'clip.deleted' } })))).toBe('202 queued');
  });

  it('a receiver with a queue queues nothing that is not signed', async () => {
    const queue = memoryQueue();
    const { receiver } = receiverOf(queue);
    expect(inShort(await receiver(aRequest({ secret: 'a guess' })))).toBe('401 signature_mismatch');
    expect(queue.jobs.size).toBe(0);
  });

  it('a receiver with a queue is refused with handlers, and with a queue that has no put', () => {
    expect(refusal(() => aReceiver({ queue: memoryQueue() })).message).toContain('on and queue cannot both be given');
    expect(refusal(() => receiverOf({ name: 'x' } as DeliveryQueue)).message).toContain('queue has no method put()');
    expect(refusal(() => receiverOf({ put: async () => 'queued' } as never)).message).toContain('queue has no name');
  });

  it('a receiver with a queue counts a queued delivery as accepted in its health', async () => {
    const { receiver } = receiverOf(memoryQueue());
    await receiver(aRequest());
    expect(await receiver.health()).toMatchObject({ lastAcceptedAt: expect.any(Number), inProgress: 0 });
  });
});
