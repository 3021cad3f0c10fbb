import fc from 'fast-check';
import { isWebhookError, isWebhookEvent, parseEvent } from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { anEvent } from '../support/deliveries.js';
import { holds, options } from './holds.js';
import { referenceEnvelope } from './reference-envelope.js';

const pieces = (...words: string[]) =>
  fc.array(fc.constantFrom(...words), { maxLength: 12 }).map((parts) => parts.join(''));
const days = pieces('2028', '2100', '0000', '-', '-02', '-29', '-30', '-31', '-12', '-13', '-00', '04', '1', '٣');
const nearDays = fc
  .tuple(fc.constantFrom('2026', '2028', '2100', '2000', '0000', '99999'), fc.nat(14), fc.nat(33))
  .map(([year, month, day]) => [year, String(month).padStart(2, '0'), String(day).padStart(2, '0')].join('-'));
const clocks = fc
  .tuple(
    fc.constantFrom('T', 'T', 'T', 't', ' '),
    fc.constantFrom('12:00', '23:59', '24:00', '12:60', '1:00'),
    fc.constantFrom('', ':00', ':59', ':60', ':00.1', ':00.', ':00.123456'),
    fc.constantFrom('', 'Z', 'z', '+14:00', '-01:00', '+24:00', '+1:00', '+01:60'),
  )
  .map((parts) => parts.join(''));
const instants = fc.oneof(
  nearDays,
  clocks.map((clock) => `2026-07-11${clock}`),
  fc.tuple(nearDays, clocks).map((parts) => parts.join('')),
  pieces('2026-07-11', 'T', '12:00', ':00', '.0', 'Z', '+01:00', '\n'),
);
const anything = fc.oneof(fc.jsonValue(), fc.constantFrom('', 'evt_', 'evt_\n', 'evt_1', ' evt_1', '__proto__'));

const FIELDS = {
  id: anything,
  type: anything,
  version: fc.oneof(days, nearDays, anything),
  jobId: anything,
  data: anything,
  timestamp: fc.oneof(instants, anything),
};
// Mostly one field at a time: the first faulty field decides what is found.
const changes: fc.Arbitrary<Record<string, unknown>> = fc.oneof(
  fc.record(FIELDS, { requiredKeys: [] }),
  ...Object.entries<fc.Arbitrary<unknown>>(FIELDS).map(([name, value]) =>
    value.map((changed) => ({ [name]: changed })),
  ),
  { weight: 6, arbitrary: instants.map((timestamp) => ({ timestamp })) },
);
const asBytes = (value: unknown) => Buffer.from(JSON.stringify(value));
const nearlyEvents = fc.oneof(
  { weight: 6, arbitrary: changes.map((some) => asBytes(anEvent(some))) },
  fc.jsonValue().map(asBytes),
  fc.constantFrom('\ufeff', ' ', '[', '').map((before) => Buffer.concat([Buffer.from(before), asBytes(anEvent())])),
  // One byte of an event is another one: no JSON, no UTF-8, or another value.
  fc.tuple(changes, fc.nat(), fc.nat(255)).map(([some, at, byte]) => {
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
      expect(parseEvent(JSON.stringify(event))).toEqual(event);
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
