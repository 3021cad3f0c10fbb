import type { DeliveryQueue } from 'service-webhooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { aReceiver, aRequest, inShort, never } from '../support/deliveries.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function receiverOf(queue: Partial<DeliveryQueue>) {
  return aReceiver({ on: undefined, queue: { name: 'clips', put: async () => 'queued', ...queue } }).receiver;
}

/** Returns the answer of a receiver, and what it was after a time. */
async function answerAfter(receiver: ReturnType<typeof receiverOf>, ms: number): Promise<string> {
  let answer = 'none';
  void receiver(aRequest()).then((response) => {
    answer = inShort(response);
  });
  await vi.advanceTimersByTimeAsync(ms);
  return answer;
}

describe('the time limit of a queue', () => {
  it.each<[string, Partial<DeliveryQueue>]>([
    ['put', { put: never }],
    ['init', { init: never }],
    ['init and the put together', { init: () => new Promise((resolve) => setTimeout(resolve, 3_000)), put: never }],
  ])('a receiver whose queue hangs in %s answers 503 after five seconds', async (_, queue) => {
    const receiver = receiverOf(queue);
    expect(await answerAfter(receiver, 4_999)).toBe('none');
    const another = receiverOf(queue);
    expect(await answerAfter(another, 5_000)).toBe('503 queue_unavailable');
  });

  it('a receiver calls init again for the delivery after one that hung', async () => {
    const init = vi.fn(async () => {}).mockImplementationOnce(never);
    const receiver = receiverOf({ init });
    expect(await answerAfter(receiver, 5_000)).toBe('503 queue_unavailable');
    expect(await answerAfter(receiver, 0)).toBe('202 queued');
    expect(init).toHaveBeenCalledTimes(2);
  });

  it('a receiver whose queue is ready does not call init again after a put that failed', async () => {
    const init = vi.fn(async () => {});
    const put = vi.fn<DeliveryQueue['put']>(async () => 'queued').mockRejectedValueOnce(new Error('away'));
    const receiver = receiverOf({ init, put });
    expect(await answerAfter(receiver, 0)).toBe('503 queue_unavailable');
    expect(await answerAfter(receiver, 0)).toBe('202 queued');
    expect(init).toHaveBeenCalledTimes(1);
  });
});
