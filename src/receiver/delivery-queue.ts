import type { AnyEvent } from '../event.js';
import type { QueuedDelivery } from './queued-delivery.js';

/** How long a receiver waits for its queue, in milliseconds: for the first `init()` and the `put()` together. */
export const PUT_LIMIT_MS = 5_000;

/**
 * A queue that stores verified deliveries durably, for a worker to handle later. `docs/add-a-queue.md` has the rules.
 */
export interface DeliveryQueue {
  /** The name of the endpoint, part of every key: two endpoints that feed one queue need two names. */
  readonly name: string;
  /**
   * The largest body that a job of the queue can hold, in bytes; undefined where every one fits. A receiver refuses a larger
   * `maxBodyBytes` when it is created, because the queue would refuse such a delivery at each attempt.
   */
  readonly maxBodyBytes?: number | undefined;
  /**
   * Creates what is missing, such as a table. It may be called several times; the receiver awaits it before the first
   * put.
   */
  init?(): Promise<void>;
  /**
   * Resolves once the engine has confirmed that it holds the delivery durably: `'queued'`, or `'known'` where it
   * already has the key. Rejects otherwise: the delivery is answered with 503, and the service retries.
   *
   * @param event The event in the body of the delivery. The receiver passes it, so that an engine that needs one of its
   *   fields does not parse the body again; other callers may leave it out. It is not part of what is stored.
   */
  put(delivery: QueuedDelivery, event?: AnyEvent): Promise<'queued' | 'known'>;
  /** Resolves to the state of the queue, for `receiver.health()`. */
  stats?(): Promise<QueueStats>;
}

/** The state of a queue. */
export interface QueueStats {
  /** The number of deliveries that wait or run; of RabbitMQ, of those that wait. */
  depth: number;
  /**
   * How long the oldest of them has been queued, or retried by an operator, in milliseconds: 0 for none, undefined where it is
   * not known. Of RabbitMQ, of those that wait for their first run.
   */
  oldestMs: number | undefined;
  /** The number of dead letters. */
  dead: number;
}
