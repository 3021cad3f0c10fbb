import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import { Hono } from 'hono';
import { type Handlers, type Outcome, PermanentError, verify, WebhookError } from 'service-webhooks';
import { webhookHandler as ofFetch } from 'service-webhooks/fetch';
import { webhookHandler as ofHono } from 'service-webhooks/hono';
import { webhookHandler as ofNode } from 'service-webhooks/node';
import { createProcessor, toQueued } from 'service-webhooks/queue';
import { type StandardSchemaV1, withSchemas } from 'service-webhooks/standard-schema';
import { sampleEvent, signDelivery, toRequest } from 'service-webhooks/testing';
import * as v from 'valibot';
import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { answerTo } from '../receiver/answers.js';
import { serveListener } from '../support/app.js';
import { aDelivery, anEvent, aReceiver, aStore, now, refusal, SECRET } from '../support/deliveries.js';
import { LIBRARIES, TRANSCRIPT } from './libraries.js';

const withData = (data: unknown, type = 'stt.completed') => ({ event: anEvent({ type, data }) });

/** A schema with a `validate` of a test. */
const schemaWith = (validate: (value: unknown) => unknown) =>
  ({ '~standard': { version: 1, vendor: 'test', validate } }) as StandardSchemaV1;

const throwing = (error: Error) => {
  throw error;
};

const refusing = (...issues: unknown[]) => schemaWith(() => ({ issues }));

/** The outcome of a receiver whose handler must not run. */
async function refusedBy(schema: StandardSchemaV1, data: unknown = {}) {
  const on = withSchemas({ 'stt.completed': schema }, { 'stt.completed': () => expect.fail('The handler has run.') });
  const { receiver, find } = aReceiver({ on });
  expect(await answerTo(receiver, withData(data))).toMatch(/^500 /);
  return find('failed').error;
}

describe.each(Object.entries(LIBRARIES))('a schema of %s', (_, schema) => {
  it('the handler gets the output of the schema, also in its delivery', async () => {
    const handler = vi.fn();
    const { receiver } = aReceiver({ on: withSchemas({ 'stt.completed': schema }, { 'stt.completed': handler }) });
    expect(await answerTo(receiver, withData(TRANSCRIPT))).toBe('200 handled');
    const [event, { delivery, signal, attempt }] = handler.mock.lastCall ?? [];
    const data = { ...TRANSCRIPT, createdAt: new Date(TRANSCRIPT.createdAt), language: 'en' };
    expect(event).toEqual({ ...anEvent(), data });
    expect(delivery).toMatchObject({ event, scheme: 'v2', body: expect.any(Uint8Array) });
    expect({ attempt, aborted: signal.aborted }).toEqual({ attempt: 1, aborted: false });
  });

  it('data that does not match is refused before the handler, with the paths and no value', async () => {
    const error = await refusedBy(schema, {
      ...TRANSCRIPT,
      text: 4711,
      segments: [{ start: 'anna@example.com' }, { start: 'bob@example.com', text: 1 }],
    });
    expect(error).toMatchObject({ code: 'unexpected_data', status: 500 });
    expect(error.paths?.toSorted()).toEqual(['data.segments[].start', 'data.segments[].text', 'data.text']);
    expect(error.message).toMatch(/^The data of stt\.completed does not match its schema: data\./);
    expect(JSON.stringify(error) + error.stack).not.toMatch(/example\.com|4711/);
  });
});

describe('an `on` table with schemas', () => {
  const schema = z.object({ text: z.string().default('none') });

  it("the handlers of other types and '*' get their events as they are", async () => {
    const [failed, other] = [vi.fn(), vi.fn()];
    const on = withSchemas(
      { 'stt.completed': schema },
      { 'stt.completed': () => {}, 'stt.failed': failed, '*': other },
    );
    expect(on['stt.failed']).toBe(failed);
    expect(on['*']).toBe(other);
    expect(Object.keys(on)).toEqual(['stt.completed', 'stt.failed', '*']);
    const { receiver } = aReceiver({ on });
    expect(await answerTo(receiver, withData({ text: 1 }, 'a.new.type'))).toBe('200 handled');
    expect(other.mock.lastCall?.[0].data).toEqual({ text: 1 });
  });

  it("a schema for a type that only '*' handles is not used", async () => {
    const other = vi.fn();
    const { receiver } = aReceiver({ on: withSchemas({ 'stt.completed': refusing({}) }, { '*': other }) });
    expect(await answerTo(receiver)).toBe('200 handled');
    expect(other).toHaveBeenCalledOnce();
  });

  it('a schema and a handler that are undefined count as left out', async () => {
    const handler = vi.fn();
    const on = withSchemas(
      { 'stt.completed': undefined, 'stt.failed': schema },
      { 'stt.completed': handler, 'stt.failed': undefined },
    );
    expect(on).toEqual({ 'stt.completed': handler, 'stt.failed': undefined });
    const { receiver } = aReceiver({ on });
    expect(await answerTo(receiver)).toBe('200 handled');
    expect(await answerTo(receiver, { event: anEvent({ id: 'evt_2', type: 'stt.failed' }) })).toBe('200 ignored');
  });

  it('the result of a handler and its errors count as without a schema', async () => {
    const answers: [() => unknown, string][] = [
      [() => ({ status: 202 }), '202 handled'],
      [() => Promise.reject(new Error('no disk')), '500 handler_failed'],
      [() => Promise.reject(new PermanentError('gone')), '200 discarded'],
    ];
    for (const [handler, answer] of answers) {
      const { receiver } = aReceiver({ on: withSchemas({ 'stt.completed': schema }, { 'stt.completed': handler }) });
      expect(await answerTo(receiver, withData({}))).toBe(answer);
    }
  });

  it('a refused delivery is released, so that a retry with a corrected schema is handled', async () => {
    const store = aStore();
    const strict = withSchemas({ 'stt.completed': z.object({ text: z.string() }) }, { 'stt.completed': expect.fail });
    const corrected = withSchemas({ 'stt.completed': schema }, { 'stt.completed': () => {} });
    const answers = [];
    for (const on of [strict, corrected])
      answers.push(await answerTo(aReceiver({ on, dedupe: { store, name: 'a' } }).receiver, withData({})));
    expect(answers).toEqual(['500 unexpected_data', '200 handled']);
    expect(store.calls).toEqual(['claim', 'release', 'claim', 'complete']);
  });

  it('the documented fields of generation.completed are checked first', async () => {
    const lenient = z.object({ clipId: z.string().optional() });
    const on = withSchemas({ 'generation.completed': lenient }, { 'generation.completed': expect.fail });
    const { receiver, find } = aReceiver({ on });
    expect(await answerTo(receiver, withData({}, 'generation.completed'))).toBe('500 unexpected_data');
    expect(find('failed').error.paths).toEqual(['data.clipId']);
  });

  it('a worker runs the same table, and its engine keeps what does not match', async () => {
    const outcomes: Outcome[] = [];
    const handler = vi.fn();
    const on = withSchemas({ 'stt.completed': schema }, { 'stt.completed': handler });
    const process = createProcessor({ on, logger: false, observe: (outcome) => outcomes.push(outcome) });
    const run = (data: unknown) =>
      process(toQueued(verify({ ...aDelivery(withData(data)), secret: SECRET, now }), 'a:evt_1', 1), { attempt: 1 });
    expect(await run({})).toMatchObject({ as: 'done' });
    expect(handler.mock.lastCall?.[0].data).toEqual({ text: 'none' });
    expect(await run({ text: 1 })).toMatchObject({ as: 'failed', error: { code: 'unexpected_data' } });
    expect(outcomes).toMatchObject([{ kind: 'handled' }, { kind: 'failed', error: { paths: ['data.text'] } }]);
  });

  it('the schema of a receiver may be slow, and the deadline counts', async () => {
    const schema = schemaWith(() => new Promise(() => {}));
    const on = withSchemas({ 'stt.completed': schema }, { 'stt.completed': expect.fail });
    expect(await answerTo(aReceiver({ on, deadlineMs: 1 }).receiver)).toBe('503 handler_timeout');
  });
});

describe('a schema that is broken', () => {
  it.each<[string, (value: unknown) => unknown]>([
    ['undefined', () => undefined],
    ['null', () => null],
    ['text', () => 'valid'],
    ['true', () => true],
    ['an empty object', () => ({})],
    ['a promise of nothing', async () => undefined],
    ['a function', () => () => {}],
    ['an error that is thrown', () => throwing(new Error('no such table'))],
    ['a PermanentError', () => throwing(new PermanentError('gone'))],
    ['an error of an inbox', () => throwing(new WebhookError('delivery_in_progress'))],
    ['a promise that rejects', () => Promise.reject(new Error('no such table'))],
  ])('its result %s is a failure of the handler', async (_, validate) => {
    const error = await refusedBy(schemaWith(validate));
    expect(error).toMatchObject({ code: 'handler_failed', cause: expect.any(Error) });
    expect(error.message).toMatch(/^The schema of stt\.completed failed\. /);
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['false', false],
    ['no list', 'invalid'],
    ['an empty list', []],
    ['a list of nothing', [undefined, null]],
    ['issues without a path', [{ message: 'no' }]],
    ['a path that is no list', [{ path: 'text' }]],
  ])('issues that are %s refuse the data as a whole', async (_, issues) => {
    const error = await refusedBy(schemaWith((value) => ({ value, issues })));
    expect(error).toMatchObject({ code: 'unexpected_data', paths: ['data'] });
  });

  it.each<[string, unknown]>([
    ['nothing', null],
    ['a function', () => {}],
    ['a schema of another version', { '~standard': { version: 2, validate: () => ({ value: 1 }) } }],
    ['a schema without validate', { '~standard': { version: 1, vendor: 'test' } }],
    ['the name of a type', 'string'],
  ])('%s is refused when the table is made', (_, schema) => {
    const make = () => withSchemas({ 'stt.completed': schema as never }, {});
    expect(refusal(make).message).toBe(
      "schemas['stt.completed'] is not a schema of Standard Schema, version 1. " +
        'Pass a schema of Zod 3.24, Valibot 1 or ArkType 2, or of a newer version. (invalid_option)',
    );
  });
});

describe('the arguments of withSchemas', () => {
  const schema = z.object({});

  it.each<[string, () => Handlers, string]>([
    [
      'a misspelt type of a schema',
      () => withSchemas({ 'stt.complete': schema } as object, {}),
      "schemas['stt.complete'] is not an event type. Did you mean 'stt.completed'?",
    ],
    [
      'a misspelt type of a handler',
      () => withSchemas({}, { 'stt.complete': () => {} } as object),
      "on['stt.complete'] is not an event type. Did you mean 'stt.completed'?",
    ],
    [
      "a schema for '*'",
      () => withSchemas({ '*': schema } as object, {}),
      "schemas['*'] is not an event type. WEBHOOK_EVENT_TYPES lists them.",
    ],
    [
      'a handler that is none',
      () => withSchemas({}, { 'stt.completed': 'save' as never }),
      "on['stt.completed'] must be a function, but is a string.",
    ],
    [
      'a misspelt option',
      () => withSchemas({}, {}, { ondrift: () => {} } as object),
      "Unknown option 'ondrift' in withSchemas. Did you mean 'onDrift'?",
    ],
    [
      'an onDrift that is no function',
      () => withSchemas({}, {}, { onDrift: 1 as never }),
      'onDrift must be a function',
    ],
    ['no schemas', () => withSchemas(undefined as never, {}), 'schemas must be an object, but is undefined.'],
    [
      'a Map of schemas',
      () => withSchemas(new Map([['stt.completed', schema]]) as object, {}),
      'schemas must be an object with a schema for each event type.',
    ],
    ['no handlers', () => withSchemas({}, undefined as never), 'on must be an object, but is undefined.'],
  ])('%s is refused', (_, make, message) => {
    expect(refusal(make)).toMatchObject({ code: 'invalid_option', message: expect.stringContaining(message) });
  });
});

describe('the paths of a refusal', () => {
  it('a key that is not the name of a field is no part of a path', async () => {
    const paths = [
      ['byUser', 'anna@example.com'],
      ['byUser', '+49 30 1234'],
      ['byUser', { key: '4930123' }],
      ['byUser', Symbol('anna')],
      ['byUser', Object.create(null)],
      ['byUser', 'x'.repeat(65)],
      ['byUser', '__proto__', 7, null],
    ];
    const refused = await refusedBy(refusing(...paths.map((path) => ({ path }))));
    expect(refused.paths).toEqual(['data.byUser.*', 'data.byUser.__proto__[].*']);
  });

  it.each<[string, StandardSchemaV1]>([
    ['Zod', z.object({ byUser: z.record(z.string(), z.object({ age: z.number() })) })],
    ['ArkType', type({ byUser: type({ '[string]': type({ age: 'number' }) }) })],
    ['Valibot', toStandardJsonSchema(v.object({ byUser: v.record(v.string(), v.object({ age: v.number() })) }))],
  ])('the keys of a map of %s are no part of a path, also if they look like names', async (_, schema) => {
    const error = await refusedBy(schema, { byUser: { Anna_Schmidt: { age: 'x' }, sk_live: { age: null } } });
    expect(error.paths).toEqual(['data.byUser.*.age']);
    expect(`${error.message}${error.stack}`).not.toMatch(/Anna|sk_live/);
  });

  it('a key that a strict schema refuses is no part of a path', async () => {
    const { paths } = await refusedBy(type({ 'text?': 'string', '+': 'reject' }), { Anna_Schmidt: 1 });
    expect(paths).toEqual(['data.*']);
  });

  it('a thousand issues give at most ten paths, of at most twenty parts', async () => {
    const issues = Array.from({ length: 1_000 }, (_, index) => ({
      path: [`f${String.fromCharCode(97 + (index % 26))}`, ...Array(100).fill(index)],
    }));
    const { paths = [] } = await refusedBy(refusing(...issues));
    expect(paths).toHaveLength(10);
    expect(paths[0]).toBe(`data.fa${'[]'.repeat(19)}`);
  });

  it('a schema gives at most a hundred different paths, and data after that', async () => {
    const schema = schemaWith((value) => ({ issues: Object.keys(Object(value)).map((key) => ({ path: [key] })) }));
    const { receiver, outcomes } = aReceiver({
      on: withSchemas({ 'stt.completed': schema }, { 'stt.completed': expect.fail }),
    });
    for (let n = 0; n < 120; n += 1) await answerTo(receiver, withData({ [`name${n}`]: 1 }));
    await answerTo(receiver, withData({ name0: 1 }));
    const paths = outcomes.flatMap(({ error }) => (error as WebhookError | undefined)?.paths ?? []);
    expect(paths).toHaveLength(121);
    expect(new Set(paths).size).toBe(101);
    expect(paths.slice(-2)).toEqual(['data', 'data.name0']);
  });
});

describe('the table of withSchemas in an adapter', () => {
  const on = withSchemas(
    { 'stt.completed': z.object({ text: z.string() }) },
    { 'stt.completed': ({ data }) => ({ status: 200 + data.text.length }) },
  );
  const good = sampleEvent('stt.completed', { data: { text: 'abcd' } });
  const answersOf = async (send: (delivery: ReturnType<typeof signDelivery>) => Promise<Response>) => {
    const answers = [];
    for (const event of [good, sampleEvent('stt.completed', { data: { text: 1 } })])
      answers.push((await send(signDelivery({ event, secret: SECRET }))).status);
    return answers;
  };

  it('Fetch, Hono and Node run the handler for data that matches alone', async () => {
    const handler = ofFetch({ secret: SECRET, on, logger: false });
    expect(await answersOf(async (delivery) => handler(toRequest(delivery, 'http://receiver.test/')))).toEqual([
      204, 500,
    ]);
    const app = new Hono().post('/', ofHono({ secret: SECRET, on, logger: false }));
    expect(await answersOf(async (delivery) => app.request('/', toRequest(delivery, 'http://receiver.test/')))).toEqual(
      [204, 500],
    );
    const { url } = await serveListener(ofNode({ secret: SECRET, on, logger: false }));
    expect(await answersOf((delivery) => fetch(url, { ...delivery, body: Buffer.from(delivery.body) }))).toEqual([
      204, 500,
    ]);
  });
});
