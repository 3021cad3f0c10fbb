import { deliveryKey, type IdentityKey } from '../endpoint.js';
import { WebhookError } from '../errors.js';
import { initOnce } from '../init-once.js';
import { withTimeout } from '../timers.js';
import { type ClaimedDelivery, settle } from './claimed-delivery.js';
import { type DeliveryQueue, PUT_LIMIT_MS } from './delivery-queue.js';
import type { Decision } from './outcome.js';
import { toQueued } from './queued-delivery.js';

/**
 * Returns a function that puts a delivery into a queue, under the key by which dedupe knows it. Its claim is completed
 * once the queue has confirmed it. The function never rejects.
 */
export function enqueueTo(
  queue: DeliveryQueue,
  identity: IdentityKey,
): (claimed: ClaimedDelivery) => Promise<Decision> {
  const initialise = initOnce(() => queue.init?.());

  return async (claimed) => {
    const { delivery, deadline } = claimed;
    let decision: Decision;
    try {
      const key = await deliveryKey(delivery, { name: queue.name, key: identity });
      // One limit for both, because a hung engine may leave either of them without an answer.
      const limitMs = Math.min(PUT_LIMIT_MS, deadline.remaining());
      const kind = await withTimeout(limitMs, async () => {
        await initialise(limitMs);
        return confirmed(await queue.put(toQueued(delivery, key, Date.now()), delivery.event));
      });
      decision = { kind, delivery };
    } catch (cause) {
      decision = { kind: 'failed', delivery, error: new WebhookError('queue_unavailable', { cause }) };
    }
    return settle(claimed, decision);
  };
}

/** Checks the answer of a queue: one without types may resolve to anything, and only these two confirm the delivery. */
function confirmed(answer: 'queued' | 'known'): 'queued' | 'known' {
  if (answer === 'queued' || answer === 'known') return answer;
  throw new TypeError("queue.put() resolved to neither 'queued' nor 'known'");
}
