import { context, propagation } from '@opentelemetry/api';
import type { DeliveryQueue, QueueStats } from '../receiver/delivery-queue.js';
import type { QueuedDelivery } from '../receiver/queued-delivery.js';

/** Returns a queue whose deliveries have the context of their request's span, so that a worker can link to it. */
export function tracedQueue(queue: DeliveryQueue): DeliveryQueue {
  return {
    name: queue.name,
    maxBodyBytes: queue.maxBodyBytes,
    init: async () => queue.init?.(),
    put: (delivery, event) => queue.put(withTrace(delivery), event),
    ...(typeof queue.stats === 'function' && { stats: async () => queue.stats?.() as Promise<QueueStats> }),
  };
}

function withTrace(delivery: QueuedDelivery): QueuedDelivery {
  const trace: Record<string, string> = {};
  try {
    propagation.inject(context.active(), trace);
  } catch {
    return delivery; // a failure of the telemetry must not become a failure of the delivery
  }
  return Object.keys(trace).length > 0 ? { ...delivery, trace } : delivery;
}
