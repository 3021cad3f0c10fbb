import type { DeliveryQueue, QueueStats } from '../receiver/delivery-queue.js';
import type { QueuedDelivery } from '../receiver/queued-delivery.js';

export type { QueueStats };

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
  /**
   * Retries a dead letter as `retry` does, and resolves to what tells how it ends; undefined where there is none with this
   * id. A queue of your own may leave it out.
   */
  retryAndFollow?(id: string): Promise<FollowedJob | undefined>;
  /** Deletes a dead letter. Resolves to false where there is none with this id. */
  discard(id: string): Promise<boolean>;
  /**
   * Discards the dead letters that are older than `retainDead`, and resolves to how many there were. A queue of your own may
   * leave it out.
   */
  purgeDead?(): Promise<number>;
}

/** A delivery that an engine no longer retries. */
export interface DeadLetter {
  /** The engine's id of the job. */
  id: string;
  /**
   * The delivery as it was queued; undefined where the job is not a queued delivery of this version, and where its body cannot
   * be read, as `unopened` says.
   */
  delivery: QueuedDelivery | undefined;
  /** What is known of a delivery whose body is encrypted or kept outside and could not be read; otherwise undefined. */
  unopened?: UnopenedDelivery | undefined;
  /** The time of its last failure, in milliseconds since the epoch; undefined where the engine does not record it. */
  diedAt: number | undefined;
  /** The number of times its handler was started; undefined where the engine does not record it. */
  attempts: number | undefined;
  /** The text of the last error; undefined where the engine does not record it. */
  reason: string | undefined;
  /** The stack of the last error and those of its causes, at most 4 000 characters; undefined where there is none. */
  stack?: string | undefined;
}

/** A queued delivery whose body could not be read. */
export interface UnopenedDelivery {
  /** The identity of the event, as in a {@link QueuedDelivery}. */
  key: string;
  /** The tenant whose secret matched, where the receiver has tenants. */
  tenant?: string | undefined;
  /** Why its body could not be read: a sentence. */
  why: string;
  /** What the queue lacks to read it: one of these options, or the `key` in `encrypt`. Undefined for another reason. */
  needs?: 'overflow' | 'encrypt' | 'key' | undefined;
}

/** A dead letter that was retried, until it has ended again. */
export interface FollowedJob {
  /** Resolves to how far it is now. */
  state(): Promise<FollowedState>;
  /** Ends the following. The job goes on. */
  close(): Promise<void>;
}

/**
 * `'pending'` while the job waits or runs, `'done'` once its handler has succeeded, `'dead'` where it failed for good again.
 * A job that another program has deleted meanwhile is `'dead'` in SQLite and pg-boss, which keep what is done, and `'done'` in
 * BullMQ and graphile-worker, which may delete what is done.
 */
export type FollowedState = 'pending' | 'done' | 'dead';
