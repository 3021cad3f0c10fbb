import { createHmac } from 'node:crypto';
import { type EventType, type Secret, sign, WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import {
  type DeliveryRequest,
  eventJson,
  type SignedDelivery,
  type SigningOptions,
  sampleEvent,
  signDelivery,
} from 'service-webhooks/testing';

/** Makes the requests of the probes. Each delivery is of a new event. */
export interface Requests {
  /** Returns a valid delivery. */
  good(options?: Partial<SigningOptions>, type?: EventType): SignedDelivery;
  /** Returns a valid delivery of each type. */
  ofEachType(): SignedDelivery[];
  /**
   * Returns validly signed bodies: an envelope with other fields, a text of any size, or a body that is not an
   * envelope.
   */
  withFields(fields: object): SignedDelivery;
  large(bytes: number): SignedDelivery;
  withBody(body: string): SignedDelivery;
  /** Returns a delivery with other values of its signature headers; undefined removes one. */
  resigned(values: { v2?: string | undefined; legacy?: string | undefined }): DeliveryRequest;
  /** Returns a delivery with another V2 value next to a valid legacy signature. */
  withV2(value: string): DeliveryRequest;
  /** Returns a delivery that is signed with the secret of a receiver whose own was never set. */
  guessed(secret: string): DeliveryRequest;
  /** Returns a delivery whose V2 header has the signature over the body alone. */
  withoutTime(): DeliveryRequest;
  /** Returns a valid delivery whose time was changed to now. */
  timeMoved(): DeliveryRequest;
}

/** `eventType`: that of every delivery, except where a probe is about the type. */
export function createRequests(
  secret: Secret,
  headerPrefix: string,
  eventType: EventType = 'generation.completed',
): Requests {
  const id = () => `evt_doctor_${crypto.randomUUID()}`;
  const v2 = `${headerPrefix.toLowerCase()}-signature-v2`;
  const legacy = `${headerPrefix.toLowerCase()}-signature`;
  const signed = (body: string, options?: Partial<SigningOptions>) =>
    signDelivery({ secret, headerPrefix, ...options, body, idempotencyKey: `key_${crypto.randomUUID()}` });
  const good: Requests['good'] = (options, type = eventType) =>
    signed(
      writtenUnusually(
        sampleEvent(type, { id: id(), data: type === 'generation.completed' ? { feature: 'café 日本' } : {} }),
      ),
      options,
    );
  const withFields = (fields: object) => signed(JSON.stringify({ ...sampleEvent(eventType, { id: id() }), ...fields }));
  const resigned: Requests['resigned'] = (values) => {
    const delivery = good();
    const { [v2]: _, [legacy]: __, ...others } = delivery.headers;
    const given = { [v2]: values.v2, [legacy]: values.legacy };
    const present = Object.entries(given).filter((header): header is [string, string] => header[1] !== undefined);
    return { ...delivery, headers: { ...others, ...Object.fromEntries(present) } };
  };
  return {
    good,
    ofEachType: () => WEBHOOK_EVENT_TYPES.map((type) => good({}, type)),
    withFields,
    large: (bytes) => {
      const { data } = sampleEvent(eventType);
      return withFields({ data: { ...data, text: 'x'.repeat(bytes) } }); // with the fields that the types promise to a handler
    },
    withBody: (body) => signed(body),
    resigned,
    withV2(value) {
      const delivery = good();
      return { ...delivery, headers: { ...delivery.headers, [v2]: value } };
    },
    guessed(guess) {
      const delivery = good();
      const { at, body } = delivery;
      const t = Math.floor(at / 1000);
      const mac = (prefix: string) => createHmac('sha256', guess).update(prefix).update(body).digest('hex');
      const headers = { ...delivery.headers, [v2]: `t=${t},v1=${mac(`${t}.`)}`, [legacy]: `sha256=${mac('')}` };
      return { ...delivery, headers };
    },
    withoutTime() {
      const delivery = good();
      const overBody = delivery.headers[legacy]?.slice('sha256='.length);
      return {
        ...delivery,
        headers: { ...delivery.headers, [v2]: `t=${Math.floor(delivery.at / 1000)},v1=${overBody}` },
      };
    },
    timeMoved() {
      const delivery = good();
      const { body } = delivery;
      const old = sign({ body, secret, at: delivery.at - 3_600_000, scheme: 'v2', headerPrefix })[v2] ?? '';
      const moved = old.replace(/^t=\d+/, `t=${Math.floor(delivery.at / 1000)}`);
      return { ...delivery, headers: { ...delivery.headers, [v2]: moved } };
    },
  };
}

/**
 * Returns JSON that changes when it is parsed and written: spaces, an escaped letter next to plain ones, a trailing
 * zero.
 */
function writtenUnusually(event: object): string {
  return eventJson(event).replace('café', 'caf\\u00e9').replace('"durationSec": 4.2', '"durationSec": 4.20');
}
