import type { QueuedDelivery } from 'service-webhooks';
import { toQueued } from '../../src/queue/index.js';
import { anEvent } from '../support/deliveries.js';

export interface QueuedParts {
  key?: string;
  eventId?: string;
  type?: string;
  jobId?: string | null;
  tenant?: string | undefined;
  data?: Record<string, unknown>;
}

/** A queued delivery with a new event id, except for what is given. */
export function aQueued({
  eventId = `evt_${crypto.randomUUID()}`,
  key = `test:${eventId}`,
  type = 'stt.completed',
  jobId = null,
  tenant,
  data,
}: QueuedParts = {}): QueuedDelivery {
  const event = anEvent({ id: eventId, type, jobId, ...(data && { data }) });
  const body = new TextEncoder().encode(JSON.stringify(event));
  const delivery = { event, body, scheme: 'v2', signedAt: 1, secretIndex: 0, tenant, unsigned: {} };
  return toQueued(delivery as never, key, Date.now());
}
