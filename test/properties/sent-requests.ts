import fc from 'fast-check';
import { sign } from 'service-webhooks';
import { NOW, SECRET } from '../support/deliveries.js';
import { BODY, bodies, bytes, headerValues, nearlyGoodHeaders, often } from './arbitraries.js';

export type Pairs = [name: string, value: string][];
/** The headers and the body of a POST. */
export interface Sent {
  pairs: Pairs;
  body: Buffer;
}

export const JSON_TYPE = 'application/json';
export const SECRETS = [SECRET, 'whsec_the_next_one'];

/** What HTTP carries as it is: no control characters, no white space around it; one character is one byte. */
const travels = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.length < 8_000 &&
  /^[\t\x20-\x7e\x80-\xff]*$/.test(value) &&
  value.trim() === value;

const signatures = (body: string | Uint8Array): fc.Arbitrary<Pairs> =>
  fc
    .record({ scheme: fc.constantFrom('v2', 'legacy', 'both'), secret: fc.constantFrom(...SECRETS) })
    .map((how) => Object.entries(sign({ body, at: NOW, ...how })));
const v2 = () => fc.oneof(often(nearlyGoodHeaders(), 4), headerValues()).filter(travels);
const pairs = (): fc.Arbitrary<Pairs> =>
  fc.oneof(
    often(signatures(BODY), 4),
    often(
      v2().map((value): Pairs => [['X-Service-Signature-V2', value]]),
      4,
    ),
    fc.tuple(v2(), v2()).map((twice) => twice.map((value): Pairs[number] => ['x-service-signature-v2', value])),
    fc.array(fc.tuple(fc.constantFrom('x-service-signature-v2', 'X-Service-Signature', 'content-encoding'), v2()), {
      maxLength: 3,
    }),
  );

/** Once at the most: what comes twice, platforms join, and no signature would show it. */
const others = (): fc.Arbitrary<Pairs> => {
  const text = fc.oneof(fc.string().filter(travels), fc.nat().map(String));
  const names = { 'Idempotency-Key': text, 'X-Service-Webhook-Id': text, 'x-service-attempt': text };
  const type = fc.constantFrom(JSON_TYPE, 'text/plain');
  return fc.record({ ...names, 'Content-Type': type }, { requiredKeys: [] }).map(Object.entries);
};

/** Requests as a sender may make them, and HTTP carries them: right, wrong and odd. */
export const deliveries = (): fc.Arbitrary<Sent> =>
  fc
    .tuple(
      fc.oneof(
        often(fc.record({ pairs: pairs(), body: fc.oneof(often(fc.constant(Buffer.from(BODY)), 4), bytes()) }), 4),
        fc
          .oneof(bodies(), fc.json(), bytes())
          .chain((body) => fc.record({ pairs: signatures(body), body: fc.constant(body) })),
      ),
      others(),
    )
    .map(([signed, more]) => ({ pairs: [...signed.pairs, ...more], body: Buffer.from(signed.body as string) }));
