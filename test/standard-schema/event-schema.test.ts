import type { StandardSchemaV1 } from '@standard-schema/spec';
import { WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { eventSchema } from 'service-webhooks/standard-schema';
import { describe, expect, it } from 'vitest';
import { anEvent, refusal } from '../support/deliveries.js';

const data = {
  clipId: 'clip_1',
  feature: 'text-to-speech',
  durationSec: 4.2,
  downloadUrl: 'https://storage.example/1',
};
const completed = (changes: Record<string, unknown> = {}) =>
  anEvent({ type: 'generation.completed', data: { ...data, ...changes } });

const issuesOf = (schema: StandardSchemaV1, value: unknown) => {
  const result = schema['~standard'].validate(value);
  if (result instanceof Promise) throw new Error('a promise');
  return result.issues;
};
const pathsOf = (schema: StandardSchemaV1, value: unknown) =>
  issuesOf(schema, value)?.map(({ path }) => path?.join('.'));

describe('eventSchema() for any event', () => {
  it('an accepted value is returned with all its fields', () => {
    const event = anEvent({ type: 'a.future.type', more: 1 });
    expect(eventSchema()['~standard'].validate(event)).toEqual({ value: event });
    expect(eventSchema()['~standard'].validate(event)).toHaveProperty('value', event);
  });

  it('the issues name every wrong field', () => {
    const value = { id: 'evt_', type: '', version: '2026-02-30', jobId: 7, data: [], timestamp: 'yesterday' };
    expect(eventSchema()['~standard'].validate(value)).toEqual({
      issues: [
        { path: ['id'], message: 'id must be a string that begins with evt_ and goes on' },
        { path: ['type'], message: 'type must be a string that is not empty' },
        { path: ['version'], message: 'version must be a date, YYYY-MM-DD' },
        { path: ['jobId'], message: 'jobId must be a string or null' },
        { path: ['data'], message: 'data must be an object' },
        { path: ['timestamp'], message: 'timestamp must be an ISO 8601 date' },
      ],
    });
  });

  it.each([undefined, null, 'evt_1', 7, [anEvent()]])('%j is refused, since it is no object', (value) => {
    expect(eventSchema()['~standard'].validate(value)).toEqual({
      issues: [{ message: 'must be an object', path: [] }],
    });
  });

  it('the schema names service-webhooks as its vendor', () => {
    expect(eventSchema()['~standard']).toMatchObject({ version: 1, vendor: 'service-webhooks' });
  });
});

describe('eventSchema() for one event type', () => {
  it.each(WEBHOOK_EVENT_TYPES)(
    'an event of the type %s is accepted by its own schema and refused with another type',
    (type) => {
      const schema = eventSchema(type);
      const event = anEvent({ type, data });
      expect(pathsOf(schema, event)).toBeUndefined();
      const [other] = WEBHOOK_EVENT_TYPES.filter((one) => one !== type);
      expect(pathsOf(schema, { ...event, type: other })).toEqual(['type']);
    },
  );

  it('the issues name every wrong field of data, or the wrong type', () => {
    const schema = eventSchema('generation.completed');
    expect(pathsOf(schema, completed())).toBeUndefined();
    const wrong = completed({ clipId: 1, feature: null, durationSec: '4.2', downloadUrl: undefined });
    expect(issuesOf(schema, wrong)).toEqual([
      { path: ['data', 'clipId'], message: 'data.clipId must be a string' },
      { path: ['data', 'feature'], message: 'data.feature must be a string' },
      { path: ['data', 'durationSec'], message: 'data.durationSec must be a number' },
      { path: ['data', 'downloadUrl'], message: 'data.downloadUrl must be a string' },
    ]);
    expect(issuesOf(schema, anEvent())).toEqual([{ path: ['type'], message: 'type must be generation.completed' }]);
  });

  it('wrong fields of the envelope are reported without those of data', () => {
    expect(pathsOf(eventSchema('generation.completed'), { ...completed({ clipId: 1 }), id: 'evt_' })).toEqual(['id']);
  });

  it('eventSchema() throws for an unknown event type', () => {
    const { message } = refusal(() => eventSchema('generation.finished' as 'stt.failed'));
    expect(message).toContain('type must be');
  });
});
