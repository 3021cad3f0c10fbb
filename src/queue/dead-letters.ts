import type { DeliveryQueue } from '../receiver/delivery-queue.js';
import type { QueuedDelivery } from '../receiver/queued-delivery.js';

/** A queue whose operator can see its state and run its dead letters again. */
export interface OperatedQueue extends DeliveryQueue, DeadLetters {
  /** Resolves to the state of the queue, for a health check and for metrics. */
  stats(): Promise<QueueStats>;
}

/** Methods for the operator about dead letters: deliveries that an engine no longer retries. */
export interface DeadLetters {
  /** Resolves to up to `limit` dead letters, the oldest first, without the first `offset` of them. Default: 100 and 0. */
  deadLetters(options?: { limit?: number | undefined; offset?: number | undefined }): Promise<DeadLetter[]>;
  /**
   * Puts a dead letter back into the queue, with all its attempts. Resolves to false where there is none with this id.
   */
  retry(id: string): Promise<boolean>;
  /** Deletes a dead letter. Resolves to false where there is none with this id. */
  discard(id: string): Promise<boolean>;
}

/** A delivery that an engine no longer retries. */
export interface DeadLetter {
  /** The engine's id of the job. */
  id: string;
  /** The delivery as it was queued; undefined where the job is not a queued delivery of this version. */
  delivery: QueuedDelivery | undefined;
  /** The time of its last failure, in milliseconds since the epoch; undefined where the engine does not record it. */
  diedAt: number | undefined;
  /** The number of times its handler was started; undefined where the engine does not record it. */
  attempts: number | undefined;
  /** The text of the last error; undefined where the engine does not record it. */
  reason: string | undefined;
}

/** The state of a queue. */
export interface QueueStats {
  /** The number of deliveries that wait or run; of RabbitMQ, of those that wait. */
  depth: number;
  /** How long the oldest of them has been queued, in milliseconds: 0 for none, undefined where it is not known. */
  oldestMs: number | undefined;
  /** The number of dead letters. */
  dead: number;
}
