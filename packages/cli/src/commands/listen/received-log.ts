import type { WebhookResponse } from 'service-webhooks';
import type { Advice } from '../../diagnosis/advice.js';
import type { Cause } from '../../explain/explain.js';
import type { HttpMessage } from '../../http/http-message.js';
import type { AttemptRow } from '../../page/page-source.js';
import { type Inspection, isRefused } from './inspection.js';

/** A received request with its answer, or with the reason why there was no answer. */
export interface Received {
  at: number;
  endedAt: number;
  url: string;
  message: HttpMessage;
  inspection: Inspection;
  response: WebhookResponse;
  /** Why the app gave no answer. */
  problem?: string | undefined;
  /** Why the app did not acknowledge it. */
  advice?: Advice | undefined;
  /** Why its signature is not valid. */
  cause?: Pick<Cause, 'cause' | 'evidence'> | undefined;
}

/** One request of a delivery; `replay`: sent from here manually. */
export interface KeptRequest extends Received {
  id: string;
  kind: AttemptRow['kind'];
  /** Whether the secret has signed it, at any time. */
  isSigned: boolean;
}

/** The latest deliveries with their requests, the oldest first. */
export interface ReceivedLog {
  /** The requests of each delivery. Those of one event are of one delivery. */
  readonly deliveries: ReadonlyMap<string, readonly KeptRequest[]>;
  readonly requests: ReadonlyMap<string, KeptRequest>;
  /** The number of deliveries since the start or the last `clear`, with those that were removed for newer ones. */
  readonly total: number;
  /**
   * Adds a request; `deliveryId` is the delivery of one that is sent again. Returns its delivery, and the ids of the
   * deliveries that were removed for it.
   */
  add(request: Omit<KeptRequest, 'id'>, deliveryId?: string): { deliveryId: string; removed: string[] };
  /** Forgets everything. Gives the ids of the deliveries. */
  clear(): string[];
}

export interface ReceivedLogLimits {
  maxDeliveries?: number;
  maxRequestsEach?: number;
  maxBytes?: number;
}

export function createReceivedLog(limits: ReceivedLogLimits = {}): ReceivedLog {
  const { maxDeliveries = 10_000, maxRequestsEach = 100, maxBytes = 64 * 1024 * 1024 } = limits;
  const deliveries = new Map<string, KeptRequest[]>();
  const requests = new Map<string, KeptRequest>();
  let bytes = 0;
  let count = 0;
  let removedInAll = 0;

  function forget(request: KeptRequest): void {
    requests.delete(request.id);
    bytes -= sizeOf(request);
  }

  function forgetOldest(): string[] {
    const removed: string[] = [];
    for (const [deliveryId, kept] of deliveries) {
      if (deliveries.size === 1 || (deliveries.size <= maxDeliveries && bytes <= maxBytes)) break;
      deliveries.delete(deliveryId);
      kept.forEach(forget);
      removed.push(deliveryId);
    }
    removedInAll += removed.length;
    return removed;
  }

  /** Removes refused requests first, because anyone can send them. The last one stays, because it was just received. */
  function forgetRequests(kept: KeptRequest[]): void {
    while (kept.length > 1 && (kept.length > maxRequestsEach || bytes > maxBytes)) {
      const refused = kept.findIndex(({ inspection }) => isRefused(inspection));
      const [dropped] = kept.splice(refused === -1 || refused === kept.length - 1 ? 0 : refused, 1);
      forget(dropped as KeptRequest);
    }
  }

  return {
    deliveries,
    requests,
    get total() {
      return deliveries.size + removedInAll;
    },
    add(given, ofDelivery) {
      count += 1;
      const request = { ...given, id: String(count) };
      const deliveryId = ofDelivery ?? request.inspection.id ?? `request_${request.id}`;
      const kept = [...(deliveries.get(deliveryId) ?? []), request];
      deliveries.set(deliveryId, kept);
      requests.set(request.id, request);
      bytes += sizeOf(request);
      const removed = forgetOldest();
      forgetRequests(kept);
      return { deliveryId, removed };
    },
    clear() {
      const removed = [...deliveries.keys()];
      deliveries.clear();
      requests.clear();
      bytes = 0;
      removedInAll = 0;
      return removed;
    },
  };
}

/** Returns the size of a request, with an allowance for the memory of its objects. */
function sizeOf({ message, response, inspection }: KeptRequest): number {
  const texts = [...message.headers.flat(), message.path, response.body, inspection.id ?? '', inspection.type ?? ''];
  return 1_000 + message.body.length + texts.reduce((size, { length }) => size + length, 0);
}
