import fc from 'fast-check';
import { type Envelope, isEvent, isWebhookEvent, WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { eventSchema, type StandardSchema } from 'service-webhooks/standard-schema';
import { describe, expect, it } from 'vitest';
import { fits } from '../support/schemas.js';
import { changes, events, often } from './arbitraries.js';
import { holds, options } from './holds.js';

/** An event with some fields changed, as JSON gives it; or any other JSON. */
const nearlyEvents = () =>
  fc
    .oneof(
      often(events(), 3),
      often(fc.tuple(events(), changes()).map(([event, some]) => ({ ...event, ...some }))),
      fc.jsonValue(),
    )
    .map((event) => JSON.parse(JSON.stringify(event)));

/** `data` of generation.completed, now and then with something else in a field or without it. */
const nearlyData = () => {
  const text = fc.oneof(often(fc.string()), fc.jsonValue(), fc.constant(undefined));
  return fc.record({
    clipId: text,
    feature: text,
    downloadUrl: text,
    durationSec: fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.jsonValue(), fc.constant(undefined)),
  });
};

/** The JSON Schema of a type is narrower than `isEvent` here: null for `trigger.failed`, a string for the others. */
const hasJobIdOf = (type: string, { jobId }: Envelope) => (jobId === null) === (type === 'trigger.failed');

const accepts = (schema: StandardSchema<unknown>, value: unknown) =>
  schema['~standard'].validate(value).issues === undefined;

describe('the schemas of an event', options, () => {
  it('the JSON Schema, the Standard Schema and the guard agree', async () => {
    const verdicts = { true: 0, false: 0 };
    await holds(
      [nearlyEvents()],
      (value) => {
        const verdict = isWebhookEvent(value);
        verdicts[`${verdict}`] += 1;
        expect(fits('event.json', value)).toBe(verdict);
        expect(fits('openapi.json#/components/schemas/WebhookEvent', value)).toBe(verdict);
        expect(accepts(eventSchema(), value)).toBe(verdict);
      },
      5_000,
    );
    // Neither side may be a rarity, or this would prove little.
    const all = verdicts.true + verdicts.false;
    expect(Math.min(verdicts.true, verdicts.false) / all).toBeGreaterThan(0.2);
  });

  it('the schema of each type and its guard agree', async () => {
    await holds([nearlyEvents(), fc.constantFrom(...WEBHOOK_EVENT_TYPES), fc.boolean()], (value, type, ofThisType) => {
      const event = ofThisType && isWebhookEvent(value) ? { ...value, type } : value;
      const verdict = isWebhookEvent(event) && isEvent(event, type);
      expect(fits(`event.json#/$defs/${type}`, event)).toBe(verdict && hasJobIdOf(type, event));
      expect(fits(`openapi.json#/components/schemas/${type}`, event)).toBe(verdict && hasJobIdOf(type, event));
      expect(accepts(eventSchema(type), event)).toBe(verdict);
    });
  });

  it('the JSON Schema, the Standard Schema and the guard agree about data', async () => {
    const verdicts = { true: 0, false: 0 };
    await holds([events(), nearlyData()], (envelope, given) => {
      const data = JSON.parse(JSON.stringify(given));
      const event = { ...envelope, type: 'generation.completed', data };
      const verdict = isEvent(event, 'generation.completed');
      verdicts[`${verdict}`] += 1;
      const isNarrow = verdict && hasJobIdOf('generation.completed', event);
      expect(fits('event.json#/$defs/generation.completed', event)).toBe(isNarrow);
      expect(accepts(eventSchema('generation.completed'), event)).toBe(verdict);
    });
    expect(Math.min(verdicts.true, verdicts.false)).toBeGreaterThan(100);
  });
});
