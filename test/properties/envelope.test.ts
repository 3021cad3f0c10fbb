import fc from 'fast-check';
import { isWebhookError, isWebhookEvent, parseEvent } from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { anEvent } from '../support/deliveries.js';
import { changes, often } from './arbitraries.js';
import { holds, options } from './holds.js';
import { referenceEnvelope } from './reference-envelope.js';

const asBytes = (value: unknown) => Buffer.from(JSON.stringify(value));
const nearlyEvents = fc.oneof(
  often(changes().map((some) => asBytes(anEvent(some)))),
  fc.jsonValue().map(asBytes),
  fc.constantFrom('\ufeff', ' ', '[', '').map((before) => Buffer.concat([Buffer.from(before), asBytes(anEvent())])),
  // One byte of an event is another one: no JSON, no UTF-8, or another value.
  fc.tuple(changes(), fc.nat(), fc.nat(255)).map(([some, at, byte]) => {
    const bytes = asBytes(anEvent(some));
    bytes[at % bytes.length] = byte;
    return bytes;
  }),
);

describe('the envelope', () => {
  it('parseEvent decides as a second, plainer reading of the rules', options, () =>
    holds([nearlyEvents], (body) => {
      expect(verdictOn(body)).toBe(referenceEnvelope(body));
    }),
  );

  it('bytes, text and the event that was read give the same event', options, () =>
    holds([nearlyEvents], (body) => {
      if (verdictOn(body) !== 'accepted') return;
      const event = parseEvent(body);
      expect(isWebhookEvent(event)).toBe(true);
      expect(parseEvent(body.toString())).toEqual(event);
      const text = JSON.stringify(event);
      expect(JSON.stringify(parseEvent(text))).toBe(text); // as texts, because -0 is written as 0
    }),
  );
});

/** In the words of the reference: the code, and the field that is named. */
function verdictOn(body: Uint8Array): string {
  try {
    parseEvent(body);
    return 'accepted';
  } catch (error) {
    if (!isWebhookError(error)) throw error;
    if (error.code !== 'invalid_envelope') return error.code;
    const [, field = 'no object'] = /: (\w+) must be /.exec(error.message) ?? [];
    return `${error.code}: ${field}`;
  }
}
