import { type AnyEvent, isEvent, parseEvent, type StandardSchemaV1 } from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { LIBRARIES, TRANSCRIPT } from './standard-schema/libraries.js';
import { bodyOf, refusal } from './support/deliveries.js';

const schemaWith = (validate: (value: unknown) => unknown) =>
  ({ '~standard': { version: 1, vendor: 'test', validate } }) as StandardSchemaV1;

const eventWith = (data: unknown, type = 'stt.completed') => parseEvent(bodyOf({ data, type }));

describe('isEvent with a schema', () => {
  const synchronous = Object.entries(LIBRARIES).filter(([name]) => !name.includes('asynchronous'));

  it.each(synchronous)('data is checked by a schema of %s, and stays as it is', (_, schema) => {
    const event = eventWith(TRANSCRIPT);
    expect(isEvent(event, 'stt.completed', schema)).toBe(true);
    expect(event.data).toEqual(TRANSCRIPT);
    expect(isEvent(eventWith({ ...TRANSCRIPT, text: 1 }), 'stt.completed', schema)).toBe(false);
    expect(isEvent(event, 'stt.failed', schema)).toBe(false);
  });

  it('the schema is not asked about an event of another type', () => {
    const schema = schemaWith(() => expect.fail());
    expect(isEvent(eventWith({}), 'stt.failed', schema)).toBe(false);
    expect(isEvent(eventWith({}, 'generation.completed'), 'generation.completed', schema)).toBe(false);
  });

  it('an asynchronous schema is an error, and its rejection ends no process', async () => {
    const rejecting = schemaWith(() => Promise.reject(new Error('no table')));
    for (const schema of [z.object({}).refine(async () => true), rejecting]) {
      expect(refusal(() => isEvent(eventWith({}), 'stt.completed', schema)).message).toBe(
        'schema validates asynchronously. Use withSchemas, which awaits the result. (invalid_option)',
      );
    }
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['true', true],
    ['an empty object', {}],
  ])('a schema that returns %s is an error', (_, result) => {
    const schema = schemaWith(() => result);
    expect(refusal(() => isEvent(eventWith({}), 'stt.completed', schema)).message).toContain(
      'schema returned neither a value nor issues.',
    );
  });

  it.each([[[]], [null], [false], ['no']])('issues of %j are a refusal', (issues) => {
    const schema = schemaWith((value) => ({ value, issues }));
    expect(isEvent(eventWith({}), 'stt.completed', schema)).toBe(false);
  });

  it('an event whose data is no object is none of the documented ones', () => {
    for (const data of [null, undefined, 'text']) {
      const event = { ...eventWith({}), type: 'generation.completed', data } as AnyEvent;
      expect(isEvent(event, 'generation.completed')).toBe(false);
    }
  });
});
