import { utf8 } from '../bytes.js';
import { WebhookError } from '../errors.js';
import { ENVELOPE_FIELDS, faultyFields, PAYLOAD_VERSION, parseEvent } from '../event.js';
import { fingerprint } from '../verify/hmac.js';
import type { Delivery } from '../verify/verify.js';
import type { Job } from './job-record.js';

/** What `fetch` returns where a job has ended. */
export interface FoundEnd {
  /** The type of the event that the service would have sent. */
  type: string;
  /** The `data` of that event. */
  data: Record<string, unknown>;
}

/**
 * Returns the delivery of an event that the service would have sent. It has no signature, and its id cannot be that of the
 * real event: it is the same each time that it is made for the expectation and the type.
 *
 * @throws WebhookError `invalid_option` where `fetch` returned something else
 */
export async function reconciledDelivery({ jobId, tenant, expectedAt }: Job, found: FoundEnd): Promise<Delivery> {
  const { type, data } = Object(found) as Partial<FoundEnd>;
  const hash = await fingerprint(JSON.stringify([tenant ?? null, jobId, type, expectedAt]));
  const event = {
    id: `evt_reconciled_${hash.slice(0, 32)}`,
    type,
    version: PAYLOAD_VERSION,
    jobId,
    data,
    timestamp: new Date().toISOString(),
  };
  const [fault] = faultyFields(event, ENVELOPE_FIELDS);
  if (fault !== undefined) {
    throw new WebhookError('invalid_option', {
      message: `fetch returned something else than { type, data }: ${fault} must be ${ENVELOPE_FIELDS[fault as 'type'].mustBe}.`,
      hint: "Return { type: 'stt.completed', data: { … } } where the job has ended, and undefined while it runs.",
    });
  }
  const body = utf8.encode(JSON.stringify(event));
  const delivery = { event: parseEvent(body), body, scheme: 'reconciled', signedAt: undefined } as const;
  return { ...delivery, secretIndex: -1, ...(tenant !== undefined && { tenant }), unsigned: {} };
}
