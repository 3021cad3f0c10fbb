import { type EventType, WEBHOOK_EVENT_TYPES } from '../../event.js';
import { hmacSync } from '../../hmac.js';
import type { Secret } from '../../secret.js';
import { sign } from '../../signature.js';
import { sampleEvent } from '../../testing/sample-event.js';
import { type SignedDelivery, type SigningOptions, signDelivery } from '../../testing/sign-delivery.js';
import type { Sending } from '../faults.js';

/** Makes the requests of the probes. Each delivery is of a new event. */
export interface Requests {
  /** A delivery with nothing wrong with it. */
  good(options?: Partial<SigningOptions>, type?: EventType): SignedDelivery;
  /** One of each type. */
  ofEachType(): SignedDelivery[];
  /** Signed as good ones are: an envelope with other fields, with text of any size, or no envelope at all. */
  withFields(fields: object): SignedDelivery;
  large(bytes: number): SignedDelivery;
  withBody(body: string): SignedDelivery;
  /** With other values in place of its signature headers; undefined takes one away. */
  resigned(values: { v2?: string | undefined; legacy?: string | undefined }): Sending;
  /** Beside a right legacy signature. */
  withV2(value: string): Sending;
  /** Signed with a secret that a receiver has whose own was never set. */
  guessed(secret: string): Sending;
  /** In the V2 header the signature over the body alone. */
  withoutTime(): Sending;
  /** The signature of a good one, with its time moved to now. */
  timeMoved(): Sending;
}

export function createRequests(secret: Secret, headerPrefix: string): Requests {
  const id = () => `evt_doctor_${crypto.randomUUID()}`;
  const v2 = `${headerPrefix.toLowerCase()}-signature-v2`;
  const legacy = `${headerPrefix.toLowerCase()}-signature`;
  const signed = (body: string, options?: Partial<SigningOptions>) =>
    signDelivery({ secret, headerPrefix, ...options, body, idempotencyKey: `key_${crypto.randomUUID()}` });
  const good: Requests['good'] = (options, type = 'generation.completed') =>
    signed(
      writtenUnusually(
        sampleEvent(type, { id: id(), data: type === 'generation.completed' ? { feature: 'café 日本' } : {} }),
      ),
      options,
    );
  const withFields = (fields: object) =>
    signed(JSON.stringify({ ...sampleEvent('generation.completed', { id: id() }), ...fields }));
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
    large: (bytes) => withFields({ data: { text: 'x'.repeat(bytes) } }),
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
      const mac = (prefix: string) => hmacSync({ bytes: new Uint8Array(Buffer.from(guess)) }, prefix, body);
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
      const old = sign({ ...delivery, secret, at: delivery.at - 3_600_000, scheme: 'v2', headerPrefix })[v2] ?? '';
      const moved = old.replace(/^t=\d+/, `t=${Math.floor(delivery.at / 1000)}`);
      return { ...delivery, headers: { ...delivery.headers, [v2]: moved } };
    },
  };
}

/** As JSON that no parser and writer gives back: spaces, an escaped letter beside plain ones, a zero at the end. */
function writtenUnusually(event: object): string {
  const text = JSON.stringify(event, null, 1).replaceAll('\n', ' ');
  return text.replace('café', 'caf\\u00e9').replace('"durationSec": 4.2', '"durationSec": 4.20');
}
