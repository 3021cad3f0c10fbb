import fc from 'fast-check';
import { isEvent, isWebhookEvent, WEBHOOK_EVENT_TYPES, type WebhookEvent } from 'service-webhooks';
import { eventSchema, type StandardSchema } from 'service-webhooks/standard-schema';
import { describe, expect, it } from 'vitest';
import { fits } from '../support/schemas.js';
import { events } from './arbitraries.js';
import { holds, options } from './holds.js';

const digits = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: length, maxLength: length });
/** Right ones, wrong ones, and days that some years have. */
const dates = () =>
  fc
    .tuple(
      fc.oneof(digits(4), fc.constantFrom('1900', '2000', '2023', '2024', '2100', '0000')),
      fc.oneof(digits(2), fc.constantFrom('02', '04', '12', '13', '00')),
      fc.oneof(digits(2), fc.constantFrom('00', '01', '28', '29', '30', '31', '32')),
    )
    .map((parts) => parts.join('-'));
const times = () =>
  fc
    .tuple(
      fc.constantFrom('T', 't', ' '),
      fc.oneof(digits(2), fc.constantFrom('00', '23', '24')),
      fc.oneof(digits(2), fc.constantFrom('59', '60')),
      fc.constantFrom('', ':00', ':59', ':60', ':00.5', ':00.', ':00,5'),
      fc.constantFrom('', 'Z', 'z', '+05:30', '-23:59', '+24:00', '+0530'),
    )
    .map(([t, hour, minute, second, zone]) => `${t}${hour}:${minute}${second}${zone}`);

const fields = ['id', 'type', 'version', 'jobId', 'data', 'timestamp', 'more'];
const values = () =>
  fc.oneof(
    fc.jsonValue(),
    fc.constantFrom<unknown>(undefined, null, '', 'evt_', 'evt_\n', 'evt_\u{1f600}', ' evt_1', 'EVT_1', [], {}, 0),
    fc.constantFrom(...WEBHOOK_EVENT_TYPES),
    dates(),
    fc.tuple(dates(), times()).map((parts) => parts.join('')),
  );

/** An event with up to two fields changed, as JSON gives it; or any other JSON. */
const nearlyEvents = () =>
  fc
    .oneof(
      {
        weight: 9,
        arbitrary: fc.tuple(events(), fc.array(fc.tuple(fc.constantFrom(...fields), values()), { maxLength: 2 })),
      },
      { weight: 1, arbitrary: fc.jsonValue().map((value) => [value, []] as const) },
    )
    .map(([event, changes]) =>
      JSON.parse(
        JSON.stringify(changes.length === 0 ? event : { ...(event as object), ...Object.fromEntries(changes) }),
      ),
    );

/** `data` of generation.completed, now and then with something else in a field or without it. */
const nearlyData = () => {
  const text = fc.oneof({ weight: 6, arbitrary: fc.string() }, { weight: 1, arbitrary: values() });
  return fc.record({
    clipId: text,
    feature: text,
    downloadUrl: text,
    durationSec: fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), values()),
  });
};

/** The JSON Schema of a type is narrower than `isEvent` here: null for `trigger.failed`, a string for the others. */
const hasJobIdOf = (type: string, { jobId }: WebhookEvent) => (jobId === null) === (type === 'trigger.failed');

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
      const event: WebhookEvent = { ...envelope, type: 'generation.completed', data };
      const verdict = isEvent(event, 'generation.completed');
      verdicts[`${verdict}`] += 1;
      const isNarrow = verdict && hasJobIdOf('generation.completed', event);
      expect(fits('event.json#/$defs/generation.completed', event)).toBe(isNarrow);
      expect(accepts(eventSchema('generation.completed'), event)).toBe(verdict);
    });
    expect(Math.min(verdicts.true, verdicts.false)).toBeGreaterThan(100);
  });
});
