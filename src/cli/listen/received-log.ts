import type { WebhookResponse } from '../../http.js';
import type { AttemptRow } from '../../page/page-source.js';
import type { HttpMessage } from '../http-file.js';
import type { Seen } from './seen.js';

/** A request that came in, and what it was answered. */
export interface Received {
  at: number;
  endedAt: number;
  url: string;
  message: HttpMessage;
  seen: Seen;
  response: WebhookResponse;
}

/** One request of a delivery; `replay`: sent from here by hand. */
export interface KeptRequest extends Received {
  id: string;
  kind: AttemptRow['kind'];
  /** Why there is no answer. */
  problem?: string | undefined;
}

/** The latest deliveries with their requests, the oldest first. */
export interface ReceivedLog {
  /** The requests of each delivery. Those of one event are of one delivery. */
  readonly deliveries: ReadonlyMap<string, readonly KeptRequest[]>;
  readonly requests: ReadonlyMap<string, KeptRequest>;
  /** Gives the delivery that it is of, and the ids of those that had to go for it. */
  add(request: Omit<KeptRequest, 'id'>): { deliveryId: string; removed: string[] };
}

export function createReceivedLog({ maxDeliveries = 10_000, maxBytes = 64 * 1024 * 1024 } = {}): ReceivedLog {
  const deliveries = new Map<string, KeptRequest[]>();
  const requests = new Map<string, KeptRequest>();
  let bytes = 0;
  let count = 0;

  function forgetOldest(): string[] {
    const removed: string[] = [];
    for (const [deliveryId, kept] of deliveries) {
      if (deliveries.size === 1 || (deliveries.size <= maxDeliveries && bytes <= maxBytes)) break;
      deliveries.delete(deliveryId);
      for (const { id, message } of kept) {
        requests.delete(id);
        bytes -= message.body.length;
      }
      removed.push(deliveryId);
    }
    return removed;
  }

  return {
    deliveries,
    requests,
    add(given) {
      count += 1;
      const request = { ...given, id: String(count) };
      const deliveryId = request.seen.id ?? `request_${count}`;
      deliveries.set(deliveryId, [...(deliveries.get(deliveryId) ?? []), request]);
      requests.set(request.id, request);
      bytes += request.message.body.length;
      return { deliveryId, removed: forgetOldest() };
    },
  };
}
