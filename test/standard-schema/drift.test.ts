import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import { type Drift, type StandardSchemaV1, withSchemas } from 'service-webhooks/standard-schema';
import * as v from 'valibot';
import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import * as z3 from 'zod/v3';
import { answerTo } from '../receiver/answers.js';
import { anEvent, aReceiver } from '../support/deliveries.js';
import { LIBRARIES, TRANSCRIPT } from './libraries.js';

/** Delivers events with this data, and returns the drift that was reported. */
async function driftOf(schema: StandardSchemaV1, ...events: object[]): Promise<string[]> {
  const onDrift = vi.fn<(drift: Drift) => void>();
  const on = withSchemas({ 'stt.completed': schema }, { 'stt.completed': () => {} }, { onDrift });
  const { receiver } = aReceiver({ on, dedupe: false });
  for (const data of events) await answerTo(receiver, { event: anEvent({ data }) });
  for (const [drift] of onDrift.mock.calls) expect(drift.type).toBe('stt.completed');
  return onDrift.mock.calls.map(([{ path }]) => path);
}

const CHANGED = {
  ...TRANSCRIPT,
  speakers: 2,
  segments: [
    { start: 0, text: 'Hello', speaker: { name: 'Anna' } },
    { start: 1, text: 'Bob', speaker: null },
  ],
};

describe('the drift of data', () => {
  it.each(Object.entries(LIBRARIES))(
    'a field that a schema of %s does not know is reported once',
    async (_, schema) => {
      const found = await driftOf(schema, TRANSCRIPT, CHANGED, CHANGED);
      expect(found.toSorted()).toEqual(['data.segments[].speaker', 'data.speakers']);
    },
  );

  it('each type of event is compared with its own schema', async () => {
    const onDrift = vi.fn();
    const schema = z.object({ text: z.string() });
    const on = withSchemas(
      { 'stt.completed': schema, 'stt.failed': schema },
      { 'stt.completed': () => {}, 'stt.failed': () => {}, '*': () => {} },
      { onDrift },
    );
    const { receiver } = aReceiver({ on, dedupe: false });
    for (const type of ['stt.completed', 'stt.failed', 'dubbing.failed'])
      await answerTo(receiver, { event: anEvent({ type, data: { text: '', why: 'x' } }) });
    expect(onDrift.mock.calls).toEqual([
      [{ type: 'stt.completed', path: 'data.why' }],
      [{ type: 'stt.failed', path: 'data.why' }],
    ]);
  });

  it('the new name of a renamed field is reported, although the data is refused', async () => {
    expect(await driftOf(z.object({ text: z.string() }), { transcript: 'Hello' })).toEqual(['data.transcript']);
  });

  it('a transformation is no drift', async () => {
    const renaming = z.object({ text: z.string() }).transform(({ text }) => ({ words: text.split(' ') }));
    expect(await driftOf(renaming, { text: 'a b' })).toEqual([]);
    expect(await driftOf(toStandardJsonSchema(v.object({ a: v.string() })), { a: '', b: 1 })).toEqual(['data.b']);
  });

  it.each<[string, StandardSchemaV1, object, string[]]>([
    ['a map', z.record(z.string(), z.unknown()), { a: { b: 1 } }, []],
    [
      'a map of objects',
      z.object({ m: z.record(z.string(), z.object({ a: z.number() })) }),
      mapOf({ a: 1, b: 2 }),
      ['data.m.*.b'],
    ],
    ['a field of any type', z.object({ any: z.any(), unknown: z.unknown() }), { any: { a: 1 }, unknown: { b: 1 } }, []],
    ['an object of ArkType', type({ 'free?': 'object' }), { free: { a: 1 } }, []],
    ['a loose object', z.looseObject({ a: z.number() }), { a: 1, b: 2 }, ['data.b']],
    ['a strict object', z.strictObject({ a: z.number() }), { a: 1, b: 2 }, ['data.b']],
    [
      'an object with a catchall',
      z.object({ a: z.number() }).catchall(z.object({ c: z.number() })),
      { b: { c: 1, d: 2 } },
      ['data.*.d'],
    ],
    ['an empty object', z.object({}), { a: 1 }, ['data.a']],
    [
      'a union',
      z.union([z.object({ a: z.number() }), z.object({ b: z.object({ c: z.number() }) })]),
      { b: { c: 1, d: 1 } },
      ['data.b.d'],
    ],
    ['an intersection', z.object({ a: z.number() }).and(z.object({ b: z.number() })), { a: 1, b: 1, c: 1 }, ['data.c']],
    [
      'a union with text',
      z.object({ a: z.union([z.string(), z.object({ b: z.number() })]) }),
      { a: { b: 1, c: 1 } },
      ['data.a.c'],
    ],
    ['an object in place of text', z.object({ a: z.string() }), { a: { b: 1 } }, ['data.a.b']],
    ['a choice in place of an object', type({ a: "'x'|'y'" }), { a: { b: 1 } }, ['data.a.b']],
    [
      'a tuple',
      z.object({ a: z.tuple([z.object({ b: z.number() })], z.object({ c: z.number() })) }),
      { a: [{ b: 1 }, { c: 1, d: 1 }] },
      ['data.a[].d'],
    ],
    ['a key that is no name', z.object({}), { 'anna@example.com': 1, '__proto__ ': 2 }, ['data.*']],
    [
      'a key of every object',
      z.object({ a: z.number() }),
      { constructor: 1, toString: 2 },
      ['data.constructor', 'data.toString'],
    ],
    [
      'a schema that cannot describe itself',
      z.object({ a: z.date().or(z.string()), b: z.string() }),
      { a: '', b: '', c: 1 },
      ['data.c'],
    ],
    ['an output that is no object', z3.object({ a: z3.string() }).transform(({ a }) => a), { a: '', b: 1 }, []],
  ])('%s is understood', async (_, schema, data, expected) => {
    expect(await driftOf(schema, data)).toEqual(expected);
  });

  it('a schema that refers to itself is followed as deep as twenty levels', async () => {
    const Node = z.object({
      get inner() {
        return Node.optional();
      },
    });
    const nested = (depth: number): object => (depth === 0 ? { extra: 1 } : { inner: nested(depth - 1) });
    expect(await driftOf(Node, nested(3))).toEqual(['data.inner.inner.inner.extra']);
    expect(await driftOf(Node, nested(500))).toEqual([]);
  });

  it('a recursive union costs no more than its data', async () => {
    const Node: z.ZodType = z.lazy(() =>
      z.union([1, 2, 3].map((n) => z.object({ [`inner${n}`]: Node.optional() })) as never),
    );
    const nested = (depth: number): object => (depth === 0 ? { extra: 1 } : { inner1: nested(depth - 1) });
    expect(await driftOf(Node, nested(18), nested(19), nested(18))).toEqual([
      `data${'.inner1'.repeat(18)}.extra`,
      `data${'.inner1'.repeat(19)}.extra`,
    ]);
  });

  it('a long list of objects is read', async () => {
    const list = Array.from({ length: 200_000 }, (_, index) => (index === 40_000 ? { a: 1, b: 2 } : { a: 1 }));
    expect(await driftOf(z.object({ list: z.array(z.object({ a: z.number() })) }), { list })).toEqual([
      'data.list[].b',
    ]);
  });

  it('a type has at most a thousand reports', async () => {
    const data = Object.fromEntries(Array.from({ length: 1_500 }, (_, index) => [`f${index}`, 1]));
    expect(await driftOf(z.object({}), data, { other: 1 })).toHaveLength(1_000);
  });

  it.each<[string, () => unknown]>([
    ['throws', () => expect.fail('no metrics')],
    ['rejects', () => Promise.reject(new Error('no metrics'))],
  ])('a delivery is handled and every field reported, although onDrift %s', async (_, report) => {
    const onDrift = vi.fn(report);
    const on = withSchemas({ 'stt.completed': z.object({}) }, { 'stt.completed': () => {} }, { onDrift });
    expect(await answerTo(aReceiver({ on }).receiver, { event: anEvent({ data: { a: 1, b: 2 } }) })).toBe(
      '200 handled',
    );
    expect(onDrift).toHaveBeenCalledTimes(2);
  });

  it.each<[string, unknown]>([
    ['throws', { input: () => expect.fail('not representable') }],
    ['is no object', { input: () => 'schema' }],
    ['refers to itself', { input: () => ({ $ref: '#' }) }],
    ['refers to nothing', { input: () => ({ $ref: '#/$defs/none' }) }],
    ['combines what is no list', { input: () => ({ anyOf: 7 }) }],
    ['is no function', { input: 7 }],
    ['is a promise that rejects', { input: () => Promise.reject(new Error('not representable')) }],
    ['has keywords of other kinds', { input: () => ({ properties: { a: { $ref: 7, prefixItems: 7 } } }) }],
  ])('a delivery is handled, although the JSON Schema of its schema %s', async (_, jsonSchema) => {
    const schema = {
      '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }), jsonSchema },
    };
    const on = withSchemas(
      { 'stt.completed': schema as StandardSchemaV1 },
      { 'stt.completed': () => {} },
      { onDrift: () => expect.fail() },
    );
    expect(await answerTo(aReceiver({ on }).receiver)).toBe('200 handled');
  });

  it('a JSON Schema that is a promise counts as none: fields are compared with the output', async () => {
    const validate = () => ({ value: { text: 'Hello' } });
    const jsonSchema = { input: async () => ({ type: 'object' }) };
    const schema = { '~standard': { version: 1, vendor: 'test', validate, jsonSchema } };
    const onDrift = vi.fn();
    const on = withSchemas({ 'stt.completed': schema as StandardSchemaV1 }, { 'stt.completed': () => {} }, { onDrift });
    await answerTo(aReceiver({ on }).receiver, { event: anEvent({ data: { text: 'Hello', words: 1 } }) });
    expect(onDrift.mock.calls).toEqual([[{ type: 'stt.completed', path: 'data.words' }]]);
  });

  it('a schema is not asked to describe itself without onDrift', async () => {
    const validate = (value: unknown) => ({ value });
    const schema = { '~standard': { version: 1, vendor: 'test', validate, jsonSchema: { input: expect.fail } } };
    const on = withSchemas({ 'stt.completed': schema as StandardSchemaV1 }, { 'stt.completed': () => {} });
    expect(await answerTo(aReceiver({ on }).receiver)).toBe('200 handled');
  });
});

function mapOf(value: object) {
  return { m: { x: value } };
}
