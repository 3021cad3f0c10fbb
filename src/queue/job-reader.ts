import { checkKnownOptions, checkObject } from '../option-checks.js';
import type { QueuedDelivery } from '../receiver/queued-delivery.js';
import type { UnopenedDelivery } from './dead-letters.js';
import { createPayloads, PAYLOAD_OPTIONS, type PayloadOptions } from './payloads.js';
import { openedDelivery } from './stored-values.js';

/** What a job of a queue is. */
export interface ReadJob {
  /** The delivery with its exact body; undefined where the job is none of this version, and where its body cannot be read. */
  delivery: QueuedDelivery | undefined;
  /** What is known of a delivery whose body cannot be read, as in a dead letter. */
  unopened?: UnopenedDelivery | undefined;
}

/**
 * Returns a function that reads a job as an engine stores it, also one whose body is encrypted or kept outside. It changes
 * nothing, and never rejects. For programs that list the jobs of an engine.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * const read = jobReader({ encrypt: process.env['QUEUE_KEY'] ?? '' }); // an empty key throws
 * const { delivery, unopened } = await read(job);
 */
export function jobReader(options: PayloadOptions = {}): (job: unknown) => Promise<ReadJob> {
  checkObject('options', options);
  checkKnownOptions('jobReader', options, [...PAYLOAD_OPTIONS]);
  const payloads = createPayloads(options);
  return (job) => openedDelivery(payloads, job);
}
