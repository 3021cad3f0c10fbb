import { fromBase64 } from '../bytes.js';
import { parseEvent } from '../event.js';
import type { QueuedDelivery } from '../receiver/queued-delivery.js';

/** Returns the `jobId` of a queued event, for an order; undefined where it has none or cannot be read. */
export function jobIdOf({ body }: QueuedDelivery): string | undefined {
  try {
    return parseEvent(fromBase64(body)).jobId ?? undefined;
  } catch {
    return undefined;
  }
}
