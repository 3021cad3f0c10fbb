import type { DeliveryQueue, Receiver } from 'service-webhooks';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { aReceiver, aRequest, aStore, inShort, later, never, refusal } from '../support/deliveries.js';
import { memoryQueue } from '../support/memory-queue.js';
import { PATIENTLY } from '../support/patiently.js';
import { answerTo } from './answers.js';
import { throwing } from './traps.js';

const receiverOf = (queue: DeliveryQueue, options = {}) => aReceiver({ on: undefined, queue, ...options });
const queueOf = (methods: Partial<DeliveryQueue> = {}): DeliveryQueue => ({
  name: 'clips',
  put: async () => 'queued',
  ...methods,
});
const away = async () => Promise.reject(new Error('the queue is away'));

describe('a receiver with a queue', () => {
  it('the answer is 202 queued for a new event, and 202 known for its retries', async () => {
    const queue = memoryQueue({ name: 'clips' });
    const { receiver, outcomes } = receiverOf(queue);
    expect([await answerTo(receiver), await answerTo(receiver)]).toEqual(['202 queued', '202 known']);
    expect(outcomes).toMatchObject([
      { kind: 'queued', delivery: { event: { id: 'evt_1' } } },
      { kind: 'known', delivery: { event: { id: 'evt_1' } } },
    ]);
    expect([...queue.jobs.keys()]).toEqual(['clips:evt_1']);
  });

  it('the answer waits until the queue has confirmed the delivery', async () => {
    const confirmed = later<'queued'>();
    const put = vi.fn(() => confirmed.promise);
    const answer = vi.fn();
    const answered = answerTo(receiverOf(queueOf({ put })).receiver).then(answer);
    await vi.waitFor(() => expect(put).toHaveBeenCalled(), PATIENTLY);
    expect(answer).not.toHaveBeenCalled();
    confirmed.resolve('queued');
    await answered;
    expect(answer).toHaveBeenCalledWith('202 queued');
  });

  it('the queue gets the exact bytes, the verified facts and the unsigned headers', async () => {
    const put = vi.fn<DeliveryQueue['put']>(async () => 'queued');
    const request = aRequest({ headers: { 'idempotency-key': 'a key' } });
    await receiverOf(queueOf({ put })).receiver(request);
    expect(put.mock.lastCall?.[0]).toMatchObject({
      v: 1,
      key: 'clips:evt_1',
      body: Buffer.from(request.body as string).toString('base64'),
      scheme: 'v2',
      secretIndex: 0,
      unsigned: { idempotencyKey: 'a key' },
    });
  });

  it('the queue gets the event that the receiver has parsed', async () => {
    const put = vi.fn<DeliveryQueue['put']>(async () => 'queued');
    const { receiver, outcomes } = receiverOf(queueOf({ put }));
    await receiver(aRequest());
    const [queued, event] = put.mock.lastCall ?? [];
    expect(event).toEqual(JSON.parse(atob(queued?.body ?? '')));
    expect(outcomes).toMatchObject([{ kind: 'queued', delivery: { event } }]);
  });

  it('the key has a hash of an event id that is not plain ASCII', async () => {
    const queue = memoryQueue({ name: 'clips' });
    await receiverOf(queue).receiver(aRequest({ event: { id: 'evt_é日' } }));
    expect([...queue.jobs.keys()]).toEqual([expect.stringMatching(/^clips:sha256:[0-9a-f]{64}$/)]);
  });

  it.each<[string, () => unknown]>([
    ['rejects', away],
    ['throws', throwing],
    ['resolves to nothing', async () => undefined],
    ['resolves to something else', async () => 'ok'],
    ['does not answer before the deadline', never],
  ])('the answer is 503 where put() %s, and the retry is queued', async (_, wrong) => {
    const put = vi.fn<DeliveryQueue['put']>(memoryQueue().put).mockImplementationOnce(wrong as DeliveryQueue['put']);
    const { receiver, find } = receiverOf(queueOf({ put }), { deadlineMs: 1_000 });
    const response = await receiver(aRequest());
    expect(inShort(response)).toBe('503 queue_unavailable');
    expect(response.headers).toMatchObject({ 'retry-after': '30' });
    expect(find('failed').error).toMatchObject({ code: 'queue_unavailable', cause: expect.any(Error) });
    expect(await answerTo(receiver)).toBe('202 queued');
  });

  it('the cause of the error says what put() should have resolved to', async () => {
    const { receiver, find } = receiverOf(queueOf({ put: async () => 'ok' as 'queued' }));
    await receiver(aRequest());
    expect(find('failed').error.cause).toEqual(new TypeError("queue.put() resolved to neither 'queued' nor 'known'"));
  });

  it('simultaneous deliveries wait for one call of init()', async () => {
    const init = vi.fn(async () => {});
    const { receiver } = receiverOf(queueOf({ init }));
    await Promise.all([receiver(aRequest()), receiver(aRequest()), receiver(aRequest())]);
    expect(init).toHaveBeenCalledOnce();
  });

  it('a failed init() is called again, and no delivery is acknowledged before it succeeds', async () => {
    const init = vi.fn(async () => {}).mockRejectedValueOnce(new Error('no table'));
    const put = vi.fn<DeliveryQueue['put']>(async () => 'queued');
    const { receiver } = receiverOf(queueOf({ put, init }));
    expect(await answerTo(receiver)).toBe('503 queue_unavailable');
    expect(put).not.toHaveBeenCalled();
    expect(await answerTo(receiver)).toBe('202 queued');
    expect(init).toHaveBeenCalledTimes(2);
  });

  it('a failed put() does not repeat init()', async () => {
    const init = vi.fn(async () => {});
    const put = vi.fn<DeliveryQueue['put']>(async () => 'queued').mockRejectedValueOnce(new Error('away'));
    const { receiver } = receiverOf(queueOf({ init, put }));
    expect([await answerTo(receiver), await answerTo(receiver)]).toEqual(['503 queue_unavailable', '202 queued']);
    expect(init).toHaveBeenCalledOnce();
  });

  it('without a store, an event that is no longer in the queue is queued again', async () => {
    const queue = memoryQueue({ name: 'clips' });
    const { receiver } = receiverOf(queue);
    await receiver(aRequest());
    queue.jobs.clear();
    expect(await answerTo(receiver)).toBe('202 queued');
  });

  it.each<[string, DeliveryQueue, string[], string[]]>([
    ['completed after the put', memoryQueue({ name: 'clips' }), ['202 queued', '200 duplicate'], ['claim', 'complete']],
    [
      'completed where the queue knew the event',
      queueOf({ put: async () => 'known' }),
      ['202 known', '200 duplicate'],
      ['claim', 'complete'],
    ],
    ['released after a failed put', queueOf({ put: away }), ['503 queue_unavailable'], ['claim', 'release']],
  ])('with a store, the claim of the event is %s', async (_, queue, answers, calls) => {
    const store = aStore();
    const { receiver } = receiverOf(queue, { dedupe: { store, name: 'clips' } });
    expect(await answerTo(receiver)).toBe(answers[0]);
    expect(store.calls).toEqual(calls);
    if (answers.length > 1) expect(await answerTo(receiver)).toBe(answers[1]);
  });

  it('an event of an unknown type is queued', async () => {
    expect(await answerTo(receiverOf(memoryQueue()).receiver, { event: { type: 'clip.deleted' } })).toBe('202 queued');
  });

  it('a forgery is not queued', async () => {
    const queue = memoryQueue();
    expect(await answerTo(receiverOf(queue).receiver, { secret: 'a guess' })).toBe('401 signature_mismatch');
    expect(queue.jobs.size).toBe(0);
  });

  it.each<[string, () => unknown]>([
    ['on and queue cannot both be given', () => aReceiver({ queue: memoryQueue() })],
    ['queue has no method put()', () => receiverOf({ name: 'x' } as DeliveryQueue)],
    ['queue has no method put()', () => receiverOf(null as never)],
    ['queue has no name', () => receiverOf({ put: async () => 'queued' } as never)],
    ['queue has no name', () => receiverOf(queueOf({ name: '' }))],
  ])('the receiver is not created with wrong options: %s', (problem, make) => {
    expect(refusal(make).message).toContain(problem);
  });

  it('a queued delivery counts as accepted in the health', async () => {
    const { receiver } = receiverOf(memoryQueue());
    await receiver(aRequest());
    expect(await receiver.health()).toMatchObject({ lastAcceptedAt: expect.any(Number), inProgress: 0 });
  });
});

describe('the time that a receiver waits for its queue', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });

  /** The answer of a receiver after a time, if there is one by then. */
  async function answerAfter(receiver: Receiver, ms: number): Promise<string | undefined> {
    let answer: string | undefined;
    answerTo(receiver).then((given) => {
      answer = given;
    });
    await vi.advanceTimersByTimeAsync(ms);
    return answer;
  }

  it.each<[string, Partial<DeliveryQueue>]>([
    ['put', { put: never }],
    ['init', { init: never }],
    ['init and put together', { init: () => new Promise((resolve) => setTimeout(resolve, 3_000)), put: never }],
  ])('the answer is 503 after five seconds of %s', async (_, queue) => {
    expect(await answerAfter(receiverOf(queueOf(queue)).receiver, 4_999)).toBeUndefined();
    expect(await answerAfter(receiverOf(queueOf(queue)).receiver, 5_000)).toBe('503 queue_unavailable');
  });

  it('the delivery after an init() that hung calls init() again', async () => {
    const init = vi.fn(async () => {}).mockImplementationOnce(never);
    const { receiver } = receiverOf(queueOf({ init }));
    expect(await answerAfter(receiver, 5_000)).toBe('503 queue_unavailable');
    expect(await answerAfter(receiver, 0)).toBe('202 queued');
    expect(init).toHaveBeenCalledTimes(2);
  });
});
