import { deliveryKey, type IdentityKey } from '../endpoint.js';
import { WebhookError } from '../errors.js';
import { withTimeout } from '../timers.js';
import type { DeliveryQueue } from './delivery-queue.js';
import type { ClaimedDelivery } from './dispatch.js';
import type { Decision } from './outcome.js';
import { toQueued } from './queued-delivery.js';

/**
 * Puts a delivery into a queue, under the key by which dedupe knows it. Its claim is completed once the queue has
 * confirmed it. Never rejects.
 */
export async function enqueue(
  queue: DeliveryQueue,
  identity: IdentityKey,
  claimed: ClaimedDelivery,
): Promise<Decision> {
  const { delivery, lease, deadline } = claimed;
  try {
    const key = await deliveryKey(delivery, { name: queue.name, key: identity });
    const kind = await withTimeout(deadline.remaining(), async () => {
      await initialise(queue);
      return confirmed(await queue.put(toQueued(delivery, key, Date.now())));
    });
    await lease.complete();
    return { kind, delivery };
  } catch (cause) {
    ready.delete(queue);
    await lease.release();
    return { kind: 'failed', delivery, error: new WebhookError('queue_unavailable', { cause }) };
  }
}

/** Checks the answer of a queue: one without types may resolve to anything, and only these two confirm the delivery. */
function confirmed(answer: 'queued' | 'known'): 'queued' | 'known' {
  if (answer === 'queued' || answer === 'known') return answer;
  throw new TypeError("queue.put() resolved to neither 'queued' nor 'known'");
}

const ready = new WeakMap<DeliveryQueue, Promise<void>>();

/** Initialises each queue once; after a failure, the next delivery tries again. */
function initialise(queue: DeliveryQueue): Promise<void> | undefined {
  if (queue.init === undefined) return undefined;
  const started = ready.get(queue) ?? queue.init();
  ready.set(queue, started);
  return started;
}
