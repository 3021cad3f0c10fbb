import type { QueuedDelivery } from '../../receiver/queued-delivery.js';

/** The data of a job: the delivery, and two fields that are no part of its format. */
export interface BullmqData extends QueuedDelivery {
  /** The id of one put, so that a put recognises its own job. */
  put?: string;
  /** How often the job had stalled when it was retried: BullMQ does not reset the number. */
  stalledBefore?: number;
}
